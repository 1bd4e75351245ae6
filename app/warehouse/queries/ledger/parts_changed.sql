-- The temporary table {into}: parts whose figures in {fresh} differ from those that stand; was_* is what stands.
CREATE OR REPLACE TEMP TABLE {into} AS
SELECT
    p.request_key AS request_key, p.part AS part, n.model_id AS model_id, n.cost_pusd AS cost_pusd, n.price_row AS price_row,
    p.model_id AS was_model_id, p.cost_pusd AS was_cost_pusd, p.price_row AS was_price_row
FROM request_parts AS p
INNER JOIN {fresh} AS n ON n.request_key = p.request_key AND n.part = p.part
WHERE p.model_id IS DISTINCT FROM n.model_id
    OR p.cost_pusd IS DISTINCT FROM n.cost_pusd
    OR p.price_row IS DISTINCT FROM n.price_row
