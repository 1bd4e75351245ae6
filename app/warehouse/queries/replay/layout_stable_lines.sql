-- Lines that at least $share of the sampled requests have, as the temporary table layout_stable_lines(scope_id, line_hash).
CREATE OR REPLACE TEMPORARY TABLE layout_stable_lines AS
SELECT d.scope_id AS scope_id, d.line_hash AS line_hash
FROM (
    SELECT scope_id, line_hash, sum(requests) AS requests
    FROM (SELECT DISTINCT scope_id, seg_hash, requests, line_hash FROM layout_sample) AS once
    GROUP BY scope_id, line_hash
) AS d
JOIN (
    SELECT scope_id, sum(requests) AS requests
    FROM (SELECT DISTINCT scope_id, seg_hash, requests FROM layout_sample) AS parts
    GROUP BY scope_id
) AS n ON n.scope_id = d.scope_id
WHERE d.requests >= $share * n.requests
