-- The temporary table {into}: calls of the sources of {pairs}(source_a, source_b, from_us, to_us) that are each other's
-- nearest: the same model and tokens, starts at most $near_us apart when the clock of source_b is moved by $moved_us.
-- source_a, source_b, key_a, key_b, start_a, start_b.
CREATE OR REPLACE TEMP TABLE {into} AS
WITH moved AS (
    SELECT
        source, request_key, model, tokens_in, tokens_out, start_us,
        start_us + $moved_us AS at_us,
        start_us + $moved_us - (start_us + $moved_us) % $near_us AS bucket
    FROM overlap_calls
    WHERE source IN (SELECT source_b FROM {pairs})
),
beside AS (
    SELECT source, request_key, model, tokens_in, tokens_out, start_us, at_us, bucket - $near_us AS bucket FROM moved
    UNION ALL
    SELECT source, request_key, model, tokens_in, tokens_out, start_us, at_us, bucket FROM moved
    UNION ALL
    SELECT source, request_key, model, tokens_in, tokens_out, start_us, at_us, bucket + $near_us AS bucket FROM moved
),
near AS (
    SELECT
        p.source_a,
        p.source_b,
        a.request_key AS key_a,
        b.request_key AS key_b,
        a.start_us AS start_a,
        b.start_us AS start_b,
        row_number() OVER (
            PARTITION BY p.source_b, a.request_key ORDER BY abs(a.start_us - b.at_us), b.at_us, b.request_key
        ) AS place_of_b,
        row_number() OVER (
            PARTITION BY p.source_a, b.request_key ORDER BY abs(a.start_us - b.at_us), a.start_us, a.request_key
        ) AS place_of_a
    FROM {pairs} p
    JOIN overlap_calls a ON a.source = p.source_a AND a.start_us >= p.from_us AND a.start_us < p.to_us
    JOIN beside b
        ON b.source = p.source_b AND b.model = a.model AND b.tokens_in = a.tokens_in
        AND b.tokens_out = a.tokens_out AND b.bucket = a.bucket
    WHERE abs(a.start_us - b.at_us) <= $near_us
)
SELECT source_a, source_b, key_a, key_b, start_a, start_b
FROM near
WHERE place_of_a = 1 AND place_of_b = 1
