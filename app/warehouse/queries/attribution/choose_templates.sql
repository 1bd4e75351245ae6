-- The temporary table `chosen`: of each request the most shared line of its prompt: request_key, grp, template.
CREATE OR REPLACE TEMP TABLE chosen AS
WITH part_ranks AS (
    SELECT p.grp AS grp, p.seg_hash AS seg_hash, min(k.line_rank) AS line_rank
    FROM part_lines p
    JOIN line_ranks k ON k.grp = p.grp AND k.line_hash = p.line_hash
    GROUP BY p.grp, p.seg_hash
),
request_ranks AS (
    SELECT h.request_key AS request_key, h.grp AS grp, min(r.line_rank) AS line_rank
    FROM heads h
    JOIN part_ranks r ON r.grp = h.grp AND r.seg_hash = h.seg_hash
    GROUP BY h.request_key, h.grp
)
SELECT q.request_key AS request_key, q.grp AS grp, k.line_hash AS template
FROM request_ranks q
JOIN line_ranks k ON k.grp = q.grp AND k.line_rank = q.line_rank
