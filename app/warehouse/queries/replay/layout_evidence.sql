-- Up to $most requests of each chosen plan {chosen}(plan, scope_id) of {split} (see replay.layout_split) that gain the most reads.
-- Returns (scope_id, request_key).
SELECT scope_id, request_key
FROM (
    SELECT s.scope_id, s.request_key,
           row_number() OVER (PARTITION BY s.scope_id ORDER BY s.tok_cache_read - s.billed DESC, s.request_key) AS place
    FROM {split} AS s
    JOIN {chosen} AS c ON c.plan = s.plan AND c.scope_id = s.scope_id
) AS ranked
WHERE place <= $most
ORDER BY scope_id, place
