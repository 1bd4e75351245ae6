-- The calls of the other groups of overlap_islands, group by group in order of time: source_a, source_b, opens (1 where a
-- group begins), side, request_key, start_us, at_us.
SELECT
    source_a, source_b,
    CASE WHEN row_number() OVER (
        PARTITION BY source_a, source_b, model, tokens_in, tokens_out, island ORDER BY at_us, side, request_key
    ) = 1 THEN 1 ELSE 0 END AS opens,
    side, request_key, start_us, at_us
FROM overlap_islands
WHERE calls_a > 1 OR calls_b > 1
ORDER BY source_a, source_b, model, tokens_in, tokens_out, island, at_us, side, request_key
