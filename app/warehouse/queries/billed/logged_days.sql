-- What counts as logged on each UTC day of [from_us, to_us): at_us (noon UTC), provider, account, model_id; 'unassigned'
-- is unknown. Calls that cost nothing, and those of sources known to be paid by seats or not at all, are on no bill of
-- requests. Read from the roll-up, which must stand.
WITH billing_of AS (
    SELECT source AS billed_source, max(billing) AS billing FROM sources GROUP BY source
)
SELECT DISTINCT
    at_us - at_us % 86400000000 + 43200000000 AS at_us,
    provider,
    account,
    model_id
FROM spend_hour f
LEFT JOIN billing_of b ON b.billed_source = f.source
WHERE at_us >= $from_us AND at_us < $to_us AND assigned_by <> 'bill' AND cost_state <> 'not_billed'
    AND coalesce(b.billing, 'unknown') NOT IN ('subscription', 'free')
ORDER BY 1, 2, 3, 4
