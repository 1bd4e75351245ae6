-- How deep each boundary lies and how often it would be read, from {hits}, the answer of replay.hits where boundaries write.
-- Returns (plan, scope_id, ordinal, requests, tokens, hits): mean tokens up to it, and the number of hits.
WITH found AS (
    SELECT request_key, cast(floor(pos / 1000000.0) AS integer) AS plan,
           pos - cast(floor(pos / 1000000.0) AS bigint) * 1000000 - 2 AS pos, tokens_upto, is_hit
    FROM {hits}
)
SELECT f.plan AS plan, b.scope_id AS scope_id, b.ordinal AS ordinal, count(*) AS requests, avg(f.tokens_upto) AS tokens,
       sum(f.is_hit) AS hits
FROM found AS f
JOIN {plans} AS p ON p.plan = f.plan
JOIN layout_bounds AS b ON b.request_key = f.request_key AND b.layout = p.layout AND b.pos = f.pos AND b.scope_id = p.scope_id
GROUP BY f.plan, b.scope_id, b.ordinal
ORDER BY f.plan, b.scope_id, b.ordinal
