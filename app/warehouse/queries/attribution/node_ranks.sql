-- The temporary table `node_ranks`: the lines by which a node could be split, the most shared first: those that at least
-- $least and fewer than $constant of its requests carry.
CREATE OR REPLACE TEMP TABLE node_ranks AS
WITH summed AS (
    SELECT grp, line_hash, sum(requests) AS df, min(place) AS place FROM node_lines GROUP BY grp, line_hash
)
SELECT
    s.grp AS grp, s.line_hash AS line_hash, s.df AS df,
    row_number() OVER (PARTITION BY s.grp ORDER BY s.df DESC, s.place, s.line_hash) AS line_rank
FROM summed s
JOIN split_nodes n ON n.node = s.grp
WHERE s.df >= $min_requests AND s.df >= $least * n.requests AND s.df < $constant * n.requests
