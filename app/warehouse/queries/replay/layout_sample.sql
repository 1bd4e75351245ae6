-- Lines of at most $sample distinct unstable parts of each scope's zone as the temporary table
-- layout_sample(scope_id, seg_hash, requests, pos, line_hash, bytes).
CREATE OR REPLACE TEMPORARY TABLE layout_sample AS
SELECT z.scope_id AS scope_id, z.seg_hash AS seg_hash, z.requests AS requests, l.pos AS pos, l.line_hash AS line_hash,
       l.bytes AS bytes
FROM (
    SELECT scope_id, seg_hash, requests,
           row_number() OVER (PARTITION BY scope_id ORDER BY seg_hash) AS place
    FROM layout_zone_parts
    WHERE stable = 0
) AS z
JOIN lines AS l ON l.seg_hash = z.seg_hash
WHERE z.place <= $sample
