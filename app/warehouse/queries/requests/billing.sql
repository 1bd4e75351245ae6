-- How a source is billed: billing, NULL where nobody said.
SELECT max(billing) AS billing FROM sources WHERE source = $source
