-- Sums of a table written by replay.layout_split, {split}, by plan and scope.
-- Returns (plan, scope_id, requests, tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h,
-- tok_cache_write_12h, billed_read).
SELECT plan, scope_id, count(*) AS requests,
       cast(sum(cast(tok_input AS decimal(38, 0))) AS bigint) AS tok_input,
       cast(sum(cast(tok_cache_read AS decimal(38, 0))) AS bigint) AS tok_cache_read,
       cast(sum(cast(tok_cache_write_5m AS decimal(38, 0))) AS bigint) AS tok_cache_write_5m,
       cast(sum(cast(tok_cache_write_30m AS decimal(38, 0))) AS bigint) AS tok_cache_write_30m,
       cast(sum(cast(tok_cache_write_1h AS decimal(38, 0))) AS bigint) AS tok_cache_write_1h,
       cast(sum(cast(tok_cache_write_12h AS decimal(38, 0))) AS bigint) AS tok_cache_write_12h,
       cast(sum(cast(billed AS decimal(38, 0))) AS bigint) AS billed_read
FROM {split}
GROUP BY plan, scope_id
