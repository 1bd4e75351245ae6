-- The temporary table overlap_twins: the twins of overlap_islands, and those that were found in its crowded groups
-- ({crowded}, in the same columns): source_a, source_b, key_a, key_b, start_a, start_b.
CREATE OR REPLACE TEMP TABLE overlap_twins AS
SELECT
    source_a, source_b,
    max(CASE WHEN side = 0 THEN request_key END) AS key_a,
    max(CASE WHEN side = 1 THEN request_key END) AS key_b,
    max(CASE WHEN side = 0 THEN start_us END) AS start_a,
    max(CASE WHEN side = 1 THEN start_us END) AS start_b
FROM overlap_islands
WHERE calls_a = 1 AND calls_b = 1
GROUP BY source_a, source_b, model, tokens_in, tokens_out, island
UNION ALL
SELECT source_a, source_b, key_a, key_b, start_a, start_b FROM {crowded}
