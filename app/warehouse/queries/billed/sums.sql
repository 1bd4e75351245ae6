-- Every bill by source, report, day and what its lines name: at_us (noon UTC of the day), last_us (of the last day that
-- the line is about), source, report, provider, account, model, class, kind, region, service_tier, is_batch, currency,
-- quantity, requests, cost, has_cost, written_ns (of the newest file).
SELECT
    cast(day - DATE '1970-01-01' AS BIGINT) * 86400000000 + 43200000000 AS at_us,
    cast(coalesce(last_day, day) - DATE '1970-01-01' AS BIGINT) * 86400000000 + 43200000000 AS last_us,
    source, report, provider, account, model, class, kind, region, service_tier, is_batch, currency,
    sum(quantity) AS quantity,
    sum(requests) AS requests,
    sum(cost) AS cost,
    cost IS NOT NULL AS has_cost,
    max(file_mtime_ns) AS written_ns
FROM billed
GROUP BY
    day, coalesce(last_day, day), source, report, provider, account, model, class, kind, region, service_tier, is_batch,
    currency, cost IS NOT NULL
ORDER BY at_us, last_us, source, report, provider, account, model, class, kind, region, service_tier, is_batch, currency, has_cost
