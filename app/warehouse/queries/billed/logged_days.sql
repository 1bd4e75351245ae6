-- What counts as logged on each UTC day of [from_us, to_us): at_us (noon UTC), provider, account, model_id; 'unassigned'
-- is unknown. Read from the roll-up, which must stand.
SELECT DISTINCT
    at_us - at_us % 86400000000 + 43200000000 AS at_us,
    provider,
    account,
    model_id
FROM spend_hour
WHERE at_us >= $from_us AND at_us < $to_us AND assigned_by <> 'bill'
ORDER BY 1, 2, 3, 4
