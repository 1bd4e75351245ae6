-- Every source that is known or has requests: source, format, billing (unknown where nobody said), billing_said_by,
-- requests, first_us, last_us (NULL without a time), undated, requests_unpriced, cost_pusd.
WITH seen AS (
    SELECT
        source,
        count(*) AS requests,
        min(start_us) AS first_us,
        max(start_us) AS last_us,
        sum(CASE WHEN start_us IS NULL THEN 1 ELSE 0 END) AS undated,
        sum(CASE WHEN cost_state IN ('priced', 'not_billed') THEN 0 ELSE 1 END) AS requests_unpriced,
        sum(cast(cost_pusd AS DECIMAL(38, 0))) AS cost_pusd
    FROM requests
    GROUP BY source
),
named AS (
    SELECT source, max(format) AS format, max(billing) AS billing, max(billing_said_by) AS billing_said_by
    FROM sources
    GROUP BY source
)
SELECT
    coalesce(n.source, s.source) AS source,
    n.format,
    coalesce(n.billing, 'unknown') AS billing,
    n.billing_said_by,
    coalesce(s.requests, 0) AS requests,
    s.first_us,
    s.last_us,
    coalesce(s.undated, 0) AS undated,
    coalesce(s.requests_unpriced, 0) AS requests_unpriced,
    s.cost_pusd
FROM named n
FULL OUTER JOIN seen s ON s.source = n.source
ORDER BY 1
