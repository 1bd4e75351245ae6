-- Fills bill_lines from {made}.
INSERT INTO bill_lines (
    at_us, last_us, source, report, provider, account, model, model_id, class, kind, service_tier, is_batch, currency, quantity,
    requests, cost, cost_pusd, value_pusd, price_row, has_cost, doubled_by, cost_elsewhere, is_gone, unlike
)
SELECT
    at_us, last_us, source, report, provider, account, model, model_id, class, kind, service_tier, is_batch, currency, quantity,
    requests, cost, cost_pusd, value_pusd, price_row, has_cost, doubled_by, cost_elsewhere, is_gone, unlike
FROM {made}
