-- The cost of {facts} in [from_us, to_us) that stands on bills alone, NULL where there is none, and the part of it that
-- bills do not charge yet: usage at the price book's rates (NULL as the first), and the requests that bills count
-- there. One row: cost_pusd, valued_pusd, requests.
SELECT
    sum(cast(cost_pusd AS DECIMAL(38, 0))) AS cost_pusd,
    sum(cast(cost_pusd - coalesce(cost_reported_pusd, 0) AS DECIMAL(38, 0))) AS valued_pusd,
    coalesce(sum(requests), 0) AS requests
FROM {facts}
WHERE at_us >= $from_us AND at_us < $to_us AND assigned_by = 'bill'
