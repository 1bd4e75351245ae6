-- The temporary table `split_nodes`: templates that may be several prompts with one common line ("You are a helpful
-- assistant."): node, grp, line_hash, requests. Where a group has one template only, its other lines must at least be
-- frequent enough to cover $cover of its requests between them.
CREATE OR REPLACE TEMP TABLE split_nodes AS
WITH counted AS (
    SELECT grp, line_hash, cast(count(*) AS BIGINT) AS requests FROM chosen GROUP BY grp, line_hash
),
alone AS (
    SELECT grp, count(*) AS templates FROM counted GROUP BY grp
),
others AS (
    SELECT c.grp AS grp, c.line_hash AS line_hash, sum(k.df) AS df
    FROM counted c
    JOIN line_ranks k ON k.grp = c.grp
    WHERE k.df >= $least * c.requests AND k.df < $constant * c.requests
    GROUP BY c.grp, c.line_hash
)
SELECT
    row_number() OVER (ORDER BY c.grp, c.line_hash) AS node, c.grp AS grp, c.line_hash AS line_hash,
    c.requests AS requests
FROM counted c
JOIN alone a ON a.grp = c.grp
LEFT JOIN others o ON o.grp = c.grp AND o.line_hash = c.line_hash
WHERE c.requests >= 2 * $min_requests AND (a.templates > 1 OR coalesce(o.df, 0) >= $cover * c.requests)
