-- Texts of unstable parts of the zones of {wanted}(scope_id), at most $most a scope, from {contents}(hash, text).
-- Returns (scope_id, seg_hash, requests, bytes, text), the part that most requests share first.
SELECT scope_id, seg_hash, requests, bytes, text
FROM (
    SELECT z.scope_id AS scope_id, z.seg_hash AS seg_hash, z.requests AS requests, z.bytes AS bytes, c.text AS text,
           row_number() OVER (PARTITION BY z.scope_id ORDER BY z.requests DESC, z.seg_hash) AS place
    FROM layout_zone_parts AS z
    JOIN {wanted} AS w ON w.scope_id = z.scope_id
    JOIN {contents} AS c ON c.hash = z.seg_hash
    WHERE z.stable = 0
) AS kept
WHERE place <= $most
ORDER BY scope_id, place
