-- The quarters of an hour since 1970 (UTC) in which the window has requests: (quarter).
SELECT DISTINCT cast(floor(start_us / 900000000.0) AS BIGINT) AS quarter
FROM requests
WHERE start_us >= $from_us AND start_us < $to_us
ORDER BY quarter
