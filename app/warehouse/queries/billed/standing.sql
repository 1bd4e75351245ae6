-- What is known of the reports, accounts and days of incoming_billed, one row a line item: the identity of a line, then
-- quantity, requests, cost, effective_cost, list_cost.
SELECT
    b.source, b.report, b.scope, cast(b.day AS VARCHAR) AS day, b.provider, b.account, b.model, b.class, b.kind, b.region,
    b.service_tier, b.is_batch, b.line_item, b.unit, b.currency,
    sum(b.quantity) AS quantity, sum(b.requests) AS requests, sum(b.cost) AS cost,
    sum(b.effective_cost) AS effective_cost, sum(b.list_cost) AS list_cost
FROM billed b
WHERE (b.source, b.report, b.scope, b.day)
    IN (SELECT i.source, i.report, i.scope, cast(i.day AS DATE) FROM incoming_billed i)
GROUP BY
    b.source, b.report, b.scope, b.day, b.provider, b.account, b.model, b.class, b.kind, b.region,
    b.service_tier, b.is_batch, b.line_item, b.unit, b.currency
