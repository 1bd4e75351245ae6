-- The temporary table `node_heads`: the prompt parts of the requests of split_nodes, grouped by node.
CREATE OR REPLACE TEMP TABLE node_heads AS
SELECT h.request_key AS request_key, n.node AS grp, h.pos AS pos, h.seg_hash AS seg_hash
FROM heads h
JOIN chosen c ON c.request_key = h.request_key
JOIN split_nodes n ON n.grp = c.grp AND n.line_hash = c.line_hash
