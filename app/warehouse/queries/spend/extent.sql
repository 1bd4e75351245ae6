-- The first and the last moment of which Spend knows anything: starts of requests, and days that only a bill knows. NULL
-- where nothing has a time: first_us, last_us.
SELECT min(first_us) AS first_us, max(last_us) AS last_us
FROM (
    SELECT min(start_us) AS first_us, max(start_us) AS last_us FROM requests
    UNION ALL
    SELECT min(CASE WHEN at_us > 0 THEN at_us END) AS first_us, max(CASE WHEN at_us > 0 THEN at_us END) AS last_us
    FROM bill_facts
) ends
