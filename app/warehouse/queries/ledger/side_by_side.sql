-- What the requests of {facts} in [from_us, to_us) cost at list prices, at contract and by their own source's report, by
-- source and model, the largest first: source, provider, model_id, requests, list_pusd, cost_pusd, reports (requests with
-- a reported cost), reported_pusd, both (those with a cost of ours too), both_reported_pusd, both_cost_pusd (the two sums
-- over them, so that like is compared with like), compared (those whose cost of ours is whole), differing (those of them
-- that query ledger.claims names).
SELECT
    source, provider, model_id,
    count(*) AS requests,
    sum(cast(cost_list_pusd AS DECIMAL(38, 0))) AS list_pusd,
    sum(cast(cost_pusd AS DECIMAL(38, 0))) AS own_pusd,
    count(cost_reported_pusd) AS reports,
    sum(cast(cost_reported_pusd AS DECIMAL(38, 0))) AS reported_pusd,
    count(cost_reported_pusd + cost_pusd) AS with_both,
    sum(cast(CASE WHEN cost_pusd IS NOT NULL THEN cost_reported_pusd END AS DECIMAL(38, 0))) AS both_reported_pusd,
    sum(cast(CASE WHEN cost_reported_pusd IS NOT NULL THEN cost_pusd END AS DECIMAL(38, 0))) AS both_own_pusd,
    count(CASE WHEN cost_state = 'priced' THEN cost_reported_pusd + cost_pusd END) AS compared,
    count(CASE
        WHEN cost_state = 'priced'
            AND abs(cost_reported_pusd - cost_pusd) > greatest(cost_pusd / 100, 1000000)
            AND abs(cost_reported_pusd - coalesce(cost_list_pusd, cost_pusd))
            > greatest(coalesce(cost_list_pusd, cost_pusd) / 100, 1000000)
            THEN 1
    END) AS differing
FROM {facts}
WHERE at_us >= $from_us AND at_us < $to_us
GROUP BY source, provider, model_id
ORDER BY own_pusd DESC NULLS LAST, requests DESC, source, provider, model_id
