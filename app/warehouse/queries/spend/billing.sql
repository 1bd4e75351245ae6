-- The kinds of billing of {facts} in [from_us, to_us): that of their sources, unknown where nobody said; provisioned for
-- what bought capacity served, whatever else its source is billed by.
WITH billing_of AS (
    SELECT source AS billed_source, max(billing) AS billing FROM sources GROUP BY source
)
SELECT DISTINCT
    CASE WHEN service_tier IN ('provisioned', 'reserved', 'scale') THEN 'provisioned' ELSE coalesce(b.billing, 'unknown') END AS billing
FROM {facts} f
LEFT JOIN billing_of b ON b.billed_source = f.source
WHERE at_us >= $from_us AND at_us < $to_us
ORDER BY billing
