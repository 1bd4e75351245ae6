-- The counterfactual split of every request that a layout changes, as the temporary table {into}(request_key, tok_input,
-- tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h, tok_cache_write_12h): {split} from
-- replay.layout_split, and all input plain for the scopes in {stopped}(scope_id) that switch caching off.
CREATE OR REPLACE TEMPORARY TABLE {into} AS
SELECT request_key, tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h,
       tok_cache_write_12h
FROM {split}
UNION ALL
SELECT s.request_key AS request_key, s.prompt_tokens AS prompt_tokens, 0, 0, 0, 0, 0
FROM layout_stream AS s
JOIN layout_requests AS r ON r.request_key = s.request_key
JOIN {stopped} AS p ON p.scope_id = r.scope_id
