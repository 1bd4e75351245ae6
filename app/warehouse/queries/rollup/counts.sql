-- Requests and known cost in the facts (with the days that only a bill knows) and in spend_hour: facts, rollup, facts_pusd,
-- rollup_pusd. One row.
SELECT
    (SELECT coalesce(sum(CASE WHEN calls_summed > 1 THEN calls_summed ELSE 1 END), 0) FROM counted_requests) + (SELECT coalesce(sum(requests), 0) FROM bill_facts) AS facts,
    (SELECT coalesce(sum(requests), 0) FROM spend_hour) AS rollup,
    (SELECT coalesce(sum(cast(cost_pusd AS DECIMAL(38, 0))), 0) FROM counted_requests)
        + (SELECT coalesce(sum(cast(cost_pusd AS DECIMAL(38, 0))), 0) FROM bill_facts) AS facts_pusd,
    (SELECT coalesce(sum(cast(cost_pusd AS DECIMAL(38, 0))), 0) FROM spend_hour) AS rollup_pusd
