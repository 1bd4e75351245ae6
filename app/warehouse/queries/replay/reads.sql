-- The deepest hit of each request in {hits}, the answer of replay.hits.
-- Returns (request_key, probes, hits, read_tokens): boundaries probed, boundaries hit, and the tokens of the prompt up
-- to the deepest boundary that hit (0 where none did).
SELECT request_key,
       count(*) AS probes,
       sum(is_hit) AS hits,
       coalesce(max(CASE WHEN is_hit = 1 THEN tokens_upto END), 0) AS read_tokens
FROM {hits}
GROUP BY request_key
