-- Adds the lines of incoming_billed.
INSERT INTO billed (
    source, report, scope, day, last_day, provider, account, model, class, kind, region, service_tier, is_batch, line_item, unit,
    quantity, requests, cost, effective_cost, list_cost, currency, lines, file, line, path, export, page, file_bytes,
    file_mtime_ns, byte_from, task, has_more, payer
)
SELECT
    source, report, scope, cast(day AS DATE), cast(last_day AS DATE), provider, account, model, class, kind, region, service_tier, is_batch,
    line_item, unit, quantity, requests, cost, effective_cost, list_cost, currency, lines, file, line, path, export, page,
    file_bytes, file_mtime_ns, byte_from, task, has_more, payer
FROM incoming_billed
