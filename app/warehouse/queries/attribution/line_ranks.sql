-- The temporary table `line_ranks`: the lines that enough requests of a group share, the most shared first; of equally
-- shared ones the earlier in the prompt. Requests counted under a known template before this run still count for its
-- line, so that it keeps its rank.
CREATE OR REPLACE TEMP TABLE line_ranks AS
WITH counted AS (
    SELECT grp, line_hash, requests, place FROM part_lines
    UNION ALL
    SELECT g.grp, t.template AS line_hash, t.requests, cast(0 AS BIGINT) AS place
    FROM templates t
    JOIN template_groups g
        ON g.account = t.account AND g.provider = t.provider AND g.model_id = t.model_id AND g.feature = t.feature
),
summed AS (
    SELECT grp, line_hash, sum(requests) AS df, min(place) AS place FROM counted GROUP BY grp, line_hash
)
SELECT
    s.grp AS grp, s.line_hash AS line_hash, s.df,
    row_number() OVER (PARTITION BY s.grp ORDER BY s.df DESC, s.place, s.line_hash) AS line_rank
FROM summed s
JOIN template_groups g ON g.grp = s.grp
WHERE s.df >= $min_requests AND s.df >= $min_share * g.requests
