-- Up to $most requests of each scope of {split} (see replay.layout_split) that gain the most reads.
-- Returns (scope_id, request_key).
SELECT scope_id, request_key
FROM (
    SELECT scope_id, request_key,
           row_number() OVER (PARTITION BY scope_id ORDER BY tok_cache_read - coalesce(billed, 0) DESC, request_key) AS place
    FROM {split}
) AS ranked
WHERE place <= $most
ORDER BY scope_id, place
