-- How many requests each bucket of [from_us, to_us) holds, 0 with those that have no time: at_us, requests.
SELECT at_us - at_us % $bucket_us AS at_us, count(*) AS requests
FROM (
    SELECT start_us AS at_us FROM requests WHERE start_us IS NOT NULL
    UNION ALL
    SELECT cast(0 AS BIGINT) AS at_us FROM requests WHERE start_us IS NULL
) AS r
WHERE at_us >= $from_us AND at_us < $to_us
GROUP BY at_us - at_us % $bucket_us
ORDER BY 1
