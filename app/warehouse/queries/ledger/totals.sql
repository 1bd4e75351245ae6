-- The known costs of {requests} (ledger.usage) as they stand and as {changed} makes them, of those that count. One row:
-- requests, priced_before, priced_after (with a known cost), before_pusd, after_pusd, changed, touched (also of those
-- that do not count, which are priced like the others).
SELECT
    count(CASE WHEN counted THEN 1 END) AS requests,
    count(CASE WHEN counted THEN was_pusd END) AS priced_before,
    count(CASE WHEN counted THEN now_pusd END) AS priced_after,
    coalesce(sum(cast(CASE WHEN counted THEN was_pusd END AS DECIMAL(38, 0))), 0) AS before_pusd,
    coalesce(sum(cast(CASE WHEN counted THEN now_pusd END AS DECIMAL(38, 0))), 0) AS after_pusd,
    count(CASE WHEN counted THEN changed_key END) AS changed,
    count(changed_key) AS touched
FROM (
    SELECT
        u.counted, c.request_key AS changed_key, u.was_cost_pusd AS was_pusd,
        CASE WHEN c.request_key IS NULL THEN u.was_cost_pusd ELSE c.cost_pusd END AS now_pusd
    FROM {requests} AS u
    LEFT JOIN {changed} AS c ON c.request_key = u.request_key
) AS f
