-- Stores the separately billed parts of incoming with their prices.
INSERT INTO request_parts (
    request_key, part, model_id, tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h,
    tok_cache_write_12h, tok_output, tok_reasoning, cost_pusd, price_row
)
SELECT
    n.request_key, n.part, p.model_id, n.tok_input, n.tok_cache_read, n.tok_cache_write_5m, n.tok_cache_write_30m,
    n.tok_cache_write_1h, n.tok_cache_write_12h, n.tok_output, n.tok_reasoning, p.cost_pusd, p.price_row
FROM incoming_parts AS n
INNER JOIN incoming_parts_priced AS p ON p.request_key = n.request_key AND p.part = n.part
