-- All rows of a table.
SELECT *
FROM {table}
