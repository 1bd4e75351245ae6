-- The temporary table {into}: of each request in {heads} the line of its prompt that {ranks} puts first: request_key,
-- grp, line_hash. A request without any ranked line is absent.
CREATE OR REPLACE TEMP TABLE {into} AS
WITH part_ranks AS (
    SELECT p.grp AS grp, p.seg_hash AS seg_hash, min(k.line_rank) AS line_rank
    FROM {lines} p
    JOIN {ranks} k ON k.grp = p.grp AND k.line_hash = p.line_hash
    GROUP BY p.grp, p.seg_hash
),
request_ranks AS (
    SELECT h.request_key AS request_key, h.grp AS grp, min(r.line_rank) AS line_rank
    FROM {heads} h
    JOIN part_ranks r ON r.grp = h.grp AND r.seg_hash = h.seg_hash
    GROUP BY h.request_key, h.grp
)
SELECT q.request_key AS request_key, q.grp AS grp, k.line_hash AS line_hash
FROM request_ranks q
JOIN {ranks} k ON k.grp = q.grp AND k.line_rank = q.line_rank
