-- Whether texts can be read in this session. Returns (relations): 0 where none are kept.
SELECT count(*) AS relations FROM information_schema.tables WHERE table_name = 'contents'
