-- The temporary table overlap_islands: calls of the sources of {pairs}(source_a, source_b, from_us, to_us) of the same model
-- and tokens in groups that no pause of more than $near_us parts, the clock of source_b moved by $moved_us: no twins stand in
-- two groups. Only groups that both sources tell of. source_a, source_b, model, tokens_in, tokens_out, island, side (0: of
-- source_a, 1: of source_b), request_key, start_us, at_us, calls_a, calls_b (of the group).
CREATE OR REPLACE TEMP TABLE overlap_islands AS
WITH told AS (
    SELECT
        p.source_a, p.source_b, c.model, c.tokens_in, c.tokens_out, 0 AS side, c.request_key, c.start_us, c.start_us AS at_us
    FROM {pairs} p
    JOIN overlap_calls c ON c.source = p.source_a AND c.start_us >= p.from_us AND c.start_us < p.to_us
    UNION ALL
    SELECT
        p.source_a, p.source_b, c.model, c.tokens_in, c.tokens_out, 1 AS side, c.request_key, c.start_us,
        c.start_us + $moved_us AS at_us
    FROM {pairs} p
    JOIN overlap_calls c ON c.source = p.source_b
),
parted AS (
    SELECT
        source_a, source_b, model, tokens_in, tokens_out, side, request_key, start_us, at_us,
        CASE WHEN at_us - lag(at_us, 1, -4611686018427387904) OVER (
            PARTITION BY source_a, source_b, model, tokens_in, tokens_out ORDER BY at_us, side, request_key
        ) <= $near_us THEN 0 ELSE 1 END AS begins
    FROM told
),
numbered AS (
    SELECT
        source_a, source_b, model, tokens_in, tokens_out, side, request_key, start_us, at_us,
        sum(begins) OVER (
            PARTITION BY source_a, source_b, model, tokens_in, tokens_out ORDER BY at_us, side, request_key
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS island
    FROM parted
),
counted AS (
    SELECT
        source_a, source_b, model, tokens_in, tokens_out, island, side, request_key, start_us, at_us,
        sum(1 - side) OVER (PARTITION BY source_a, source_b, model, tokens_in, tokens_out, island) AS calls_a,
        sum(side) OVER (PARTITION BY source_a, source_b, model, tokens_in, tokens_out, island) AS calls_b
    FROM numbered
)
SELECT
    source_a, source_b, model, tokens_in, tokens_out, island, side, request_key, start_us, at_us, calls_a, calls_b
FROM counted
WHERE calls_a > 0 AND calls_b > 0
