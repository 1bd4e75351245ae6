-- Forgets a temporary table of one merge.
DROP TABLE {table}
