-- Drops the temporary table {name}.
DROP TABLE IF EXISTS {name}
