-- Every bill by source, report, day and what its lines name: at_us (noon UTC of the day), last_us (of the last day that
-- the line is about), source, report, payer, provider, account, model, class, kind, region, service_tier, is_batch, currency,
-- quantity, requests, cost, has_cost, written_ns (of the newest file), is_older (whether it is of {older}: periods of
-- which newer exports of the same report say the days; the columns of app.warehouse.bill_periods), is_gone (as {older} says).
WITH told AS (
    SELECT b.*, o.older_page IS NOT NULL AS is_older, coalesce(o.older_gone, false) AS is_gone
    FROM billed AS b
    LEFT JOIN (
        SELECT
            source AS older_source, report AS older_report, scope AS older_scope, cast(day AS DATE) AS older_day,
            cast(last_day AS DATE) AS older_last, export AS older_export, page AS older_page,
            is_gone AS older_gone
        FROM {older}
    ) AS o
        ON b.source = o.older_source AND b.report = o.older_report AND b.scope = o.older_scope AND b.day = o.older_day
        AND coalesce(b.last_day, b.day) = o.older_last AND b.export = o.older_export AND b.page = o.older_page
)
SELECT
    cast(day - DATE '1970-01-01' AS BIGINT) * 86400000000 + 43200000000 AS at_us,
    cast(coalesce(last_day, day) - DATE '1970-01-01' AS BIGINT) * 86400000000 + 43200000000 AS last_us,
    source, report, payer, provider, account, model, class, kind, region, service_tier, is_batch, currency,
    sum(quantity) AS quantity,
    sum(requests) AS requests,
    sum(cost) AS cost,
    cost IS NOT NULL AS has_cost,
    max(file_mtime_ns) AS written_ns,
    is_older,
    is_gone
FROM told
GROUP BY
    day, coalesce(last_day, day), source, report, payer, provider, account, model, class, kind, region, service_tier, is_batch,
    currency, cost IS NOT NULL, is_older, is_gone
ORDER BY
    at_us, last_us, source, report, payer, provider, account, model, class, kind, region, service_tier, is_batch, currency,
    has_cost, is_older, is_gone
