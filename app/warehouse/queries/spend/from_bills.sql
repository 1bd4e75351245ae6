-- The cost of {facts} in [from_us, to_us) that stands on bills alone, NULL where there is none. One row.
SELECT sum(cast(cost_pusd AS DECIMAL(38, 0))) AS cost_pusd
FROM {facts}
WHERE at_us >= $from_us AND at_us < $to_us AND assigned_by = 'bill'
