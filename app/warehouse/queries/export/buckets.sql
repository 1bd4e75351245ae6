-- How many rows of Spend each bucket of [from_us, to_us) holds, 0 with requests that have no time; those of days that
-- only a bill knows where $bills. Columns: at_us, requests.
SELECT at_us - at_us % $bucket_us AS at_us, count(*) AS requests
FROM (
    SELECT at_us FROM request_facts WHERE at_us >= $from_us AND at_us < $to_us
    UNION ALL
    SELECT at_us FROM bill_facts WHERE $bills AND at_us >= $from_us AND at_us < $to_us
) AS f
GROUP BY at_us - at_us % $bucket_us
ORDER BY at_us
