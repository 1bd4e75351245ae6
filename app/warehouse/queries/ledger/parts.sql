-- The separately billed parts of the requests of {requests}, in the layout that pricing.part_usage reads.
SELECT
    p.request_key, p.part, p.model_id, p.tok_input, p.tok_cache_read, p.tok_cache_write_5m, p.tok_cache_write_30m,
    p.tok_cache_write_1h, p.tok_cache_write_12h, p.tok_output, p.tok_reasoning
FROM request_parts AS p
WHERE p.request_key IN (SELECT request_key FROM {requests})
