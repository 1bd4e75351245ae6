-- The newest start of a request of each source that has one with a time, by name: source, last_us.
SELECT source, max(start_us) AS last_us
FROM requests
WHERE start_us IS NOT NULL
GROUP BY source
ORDER BY source
