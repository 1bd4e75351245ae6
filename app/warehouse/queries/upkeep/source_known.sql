-- How many sources have this name: 0 or 1. Columns: sources.
SELECT count(*) AS sources FROM sources WHERE source = $source
