-- The hashes of all known templates.
SELECT DISTINCT template FROM templates ORDER BY template
