-- Keeps the figures that stand for the parts of {parts} under the $version that takes their place.
INSERT INTO cost_ledger_parts (request_key, part, version, model_id, cost_pusd, price_row)
SELECT request_key, part, $version, was_model_id, was_cost_pusd, was_price_row
FROM {parts}
