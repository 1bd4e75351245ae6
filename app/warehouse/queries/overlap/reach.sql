-- The first and the last start of each source that has a request with a time: source, first_us, last_us.
SELECT source, min(start_us) AS first_us, max(start_us) AS last_us
FROM requests
WHERE start_us IS NOT NULL
GROUP BY source
ORDER BY source
