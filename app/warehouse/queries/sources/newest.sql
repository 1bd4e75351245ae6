-- The newest start of a request of each source that has one with a time, by name: source, last_us (before before_us; NULL
-- where every one is later), any_us (of all).
SELECT
    source,
    max(CASE WHEN start_us < $before_us THEN start_us END) AS last_us,
    max(start_us) AS any_us
FROM requests
WHERE start_us IS NOT NULL
GROUP BY source
ORDER BY source
