-- The temporary table `child_heads`: the prompt parts of the requests of `children`, grouped by the child: one line of
-- one node (child_names: child, grp, line_hash, requests).
CREATE OR REPLACE TEMP TABLE child_names AS
SELECT row_number() OVER (ORDER BY grp, line_hash) AS child, grp, line_hash, cast(count(*) AS BIGINT) AS requests
FROM children
GROUP BY grp, line_hash;
CREATE OR REPLACE TEMP TABLE child_heads AS
SELECT h.request_key AS request_key, m.child AS grp, h.pos AS pos, h.seg_hash AS seg_hash
FROM node_heads h
JOIN children c ON c.request_key = h.request_key
JOIN child_names m ON m.grp = c.grp AND m.line_hash = c.line_hash
