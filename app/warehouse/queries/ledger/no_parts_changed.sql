-- The temporary table {into} in the layout of ledger.parts_changed, empty.
CREATE OR REPLACE TEMP TABLE {into} AS
SELECT
    request_key, part, model_id, cost_pusd, price_row,
    model_id AS was_model_id, cost_pusd AS was_cost_pusd, price_row AS was_price_row
FROM request_parts
WHERE FALSE
