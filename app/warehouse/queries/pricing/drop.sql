-- Drops a temporary table that pricing made.
DROP TABLE IF EXISTS {table}
