-- The known costs of {requests} (ledger.usage) as they stand and as {changed} makes them. One row: requests,
-- priced_before, priced_after (with a known cost), before_pusd, after_pusd, changed.
SELECT
    count(*) AS requests,
    count(u.was_cost_pusd) AS priced_before,
    count(CASE WHEN c.request_key IS NULL THEN u.was_cost_pusd ELSE c.cost_pusd END) AS priced_after,
    coalesce(sum(cast(u.was_cost_pusd AS DECIMAL(38, 0))), 0) AS before_pusd,
    coalesce(sum(cast(CASE WHEN c.request_key IS NULL THEN u.was_cost_pusd ELSE c.cost_pusd END AS DECIMAL(38, 0))), 0)
        AS after_pusd,
    count(c.request_key) AS changed
FROM {requests} AS u
LEFT JOIN {changed} AS c ON c.request_key = u.request_key
