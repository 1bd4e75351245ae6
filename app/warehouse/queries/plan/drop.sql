-- Gives the memory of a temporary table back.
DROP TABLE IF EXISTS {rows_of}
