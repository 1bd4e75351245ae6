-- Drops the fits and errors of the last time.
DELETE FROM token_fits;
DELETE FROM token_errors
