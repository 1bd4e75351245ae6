-- The distinct parts of each scope's zone as the temporary table layout_zone_parts(scope_id, seg_hash, requests, bytes,
-- stable 0 or 1): stable where at least $share of the scope's requests have it.
CREATE OR REPLACE TEMPORARY TABLE layout_zone_parts AS
SELECT z.scope_id AS scope_id, z.seg_hash AS seg_hash, z.requests AS requests, z.bytes AS bytes,
       CASE WHEN z.requests >= $share * n.requests THEN 1 ELSE 0 END AS stable
FROM (
    SELECT p.scope_id AS scope_id, g.seg_hash AS seg_hash, count(*) AS requests, max(g.bytes) AS bytes
    FROM layout_prompts AS p
    JOIN layout_parts AS g ON g.request_key = p.request_key
    WHERE g.part = 1 AND g.pos BETWEEN p.zone_from AND p.zone_to
    GROUP BY p.scope_id, g.seg_hash
) AS z
JOIN (SELECT scope_id, count(*) AS requests FROM layout_prompts GROUP BY scope_id) AS n ON n.scope_id = z.scope_id
