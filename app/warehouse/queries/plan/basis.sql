-- What the requests of the window are billed as: is there money that was paid, and how much is list-price value only?
-- Returns one row (paid_requests, other_requests, untimed_requests).
SELECT
    coalesce(sum(CASE WHEN s.billing = 'api' AND NOT r.bought AND r.start_us IS NOT NULL THEN 1 ELSE 0 END), 0) AS paid_requests,
    coalesce(sum(CASE WHEN (s.billing IS DISTINCT FROM 'api' OR r.bought) AND r.start_us IS NOT NULL THEN 1 ELSE 0 END), 0)
        AS other_requests,
    coalesce(sum(CASE WHEN r.start_us IS NULL THEN 1 ELSE 0 END), 0) AS untimed_requests
FROM (
    SELECT source, start_us, coalesce(service_tier, '') IN ('provisioned', 'reserved', 'scale') AS bought FROM counted_requests
) r
LEFT JOIN (SELECT source, max(billing) AS billing FROM sources GROUP BY source) s ON s.source = r.source
WHERE r.start_us IS NULL OR (r.start_us >= $from_us AND r.start_us < $to_us)
