-- The kinds of billing of the sources that {facts} in [from_us, to_us) come from; unknown where nobody said.
WITH billing_of AS (
    SELECT source AS billed_source, max(billing) AS billing FROM sources GROUP BY source
)
SELECT DISTINCT coalesce(b.billing, 'unknown') AS billing
FROM {facts} f
LEFT JOIN billing_of b ON b.billed_source = f.source
WHERE at_us >= $from_us AND at_us < $to_us
ORDER BY billing
