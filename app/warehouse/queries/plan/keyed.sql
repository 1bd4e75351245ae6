-- The cell of each touched request: all that its price and its levers depend on, a local day and a size class. Requests
-- of which only a part has a price have cells of their own: such a cell cannot be priced anew, and nothing is claimed in it.
-- Sizes are cut where providers move a whole request to another rate (100k, 128k, 200k, 272k tokens).
CREATE OR REPLACE TEMP TABLE cell_of AS
SELECT
    k.request_key,
    dense_rank() OVER (
        ORDER BY k.code, k.feature, k.template, k.provider, k.model_id, k.day, k.cost_state, k.price_row, k.service_tier,
                 k.is_batch, k.region, k.price_context, k.size_class
    ) AS cell
FROM (
    SELECT
        s.request_key, p.code, s.feature, s.template, s.provider, s.model_id, s.day, s.cost_state, s.price_row, s.service_tier,
        s.is_batch, s.region, s.price_context,
        CASE WHEN s.prompt_tokens > 272000 THEN 4 WHEN s.prompt_tokens > 200000 THEN 3
             WHEN s.prompt_tokens > 128000 THEN 2 WHEN s.prompt_tokens > 100000 THEN 1 ELSE 0 END AS size_class
    FROM profile_of p
    JOIN stream s ON s.request_key = p.request_key
) k
