-- The cost of {facts} in [from_us, to_us) that stands on bills alone, NULL where there is none, and the part of it that
-- bills do not charge yet: usage at the price book's rates (NULL as the first). One row: cost_pusd, valued_pusd.
SELECT
    sum(cast(cost_pusd AS DECIMAL(38, 0))) AS cost_pusd,
    sum(cast(cost_pusd - coalesce(cost_reported_pusd, 0) AS DECIMAL(38, 0))) AS valued_pusd
FROM {facts}
WHERE at_us >= $from_us AND at_us < $to_us AND assigned_by = 'bill'
