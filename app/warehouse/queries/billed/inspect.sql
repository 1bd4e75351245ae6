-- Every stored line of a bill, in the order of its place: source, report, day, last_day, provider, account, model, class,
-- kind, region, service_tier, is_batch, line_item, unit, quantity, requests, cost, effective_cost, list_cost, currency,
-- lines, has_more (whether its page says that another follows), file, line.
SELECT
    source, report, cast(day AS VARCHAR) AS day,
    cast(last_day AS VARCHAR) AS last_day, provider, account, model, class, kind, region, service_tier, is_batch,
    line_item, unit, quantity, requests, cost, effective_cost, list_cost, currency, lines,
    coalesce(has_more, false) AS has_more, file, line
FROM billed
ORDER BY file, line, day, class, kind, line_item
