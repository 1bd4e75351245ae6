-- Whether token positions were fitted in this store. Returns (relations): 0 where the table of fits is not there.
SELECT count(*) AS relations FROM information_schema.tables WHERE table_name = 'token_fits'
