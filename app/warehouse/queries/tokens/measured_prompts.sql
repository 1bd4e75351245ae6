-- Different prompts since $from_us whose parts are all measured as they were sent, as the temporary table
-- measured_prompts(request_key, model_id, session_id, chain_hash of the whole prompt, tokens billed for it, cached of them,
-- bytes, parts, letters, digits, spaces, newlines, punctuation, high_bytes, vocabulary_tokens): at most $most a model, chosen
-- by their hash. Only prompts of text that were billed once, by themselves.
CREATE OR REPLACE TEMPORARY TABLE measured_prompts AS
WITH summed AS (
    SELECT g.request_key AS request_key, max(g.pos) AS last_pos, sum(g.bytes) AS bytes, count(*) AS parts, count(m.seg_hash) AS known,
           sum(m.letters) AS letters, sum(m.digits) AS digits, sum(m.spaces) AS spaces, sum(m.newlines) AS newlines,
           sum(m.punctuation) AS punctuation, sum(m.high_bytes) AS high_bytes,
           sum(m.vocabulary_tokens) AS vocabulary_tokens
    FROM segments AS g
    LEFT JOIN text_measures AS m ON m.seg_hash = g.seg_hash AND m.bytes = g.bytes AND g.kind <> 'image'
    WHERE g.is_boundary AND g.start_us >= $from_us
    GROUP BY g.request_key
),
billed AS (
    SELECT request_key, model_id, coalesce(session_id, cast(request_key AS varchar)) AS session_id,
           coalesce(tok_cache_read, 0) + coalesce(tok_cache_write_5m, 0) + coalesce(tok_cache_write_30m, 0)
           + coalesce(tok_cache_write_1h, 0) + coalesce(tok_cache_write_12h, 0) AS cached,
           tok_input
    FROM requests
    WHERE calls_summed IS NULL AND tok_input IS NOT NULL AND model_id IS NOT NULL AND status = 'ok' AND start_us >= $from_us
      AND coalesce(tok_input_audio, 0) + coalesce(tok_cache_read_audio, 0) + coalesce(tok_input_image, 0) = 0
      AND request_key NOT IN (SELECT request_key FROM request_parts)
),
whole AS (
    SELECT s.request_key AS request_key, b.model_id AS model_id, b.session_id AS session_id,
           g.chain_hash AS chain_hash, b.tok_input + b.cached AS tokens, b.cached AS cached, s.bytes AS bytes,
           s.parts AS parts, s.letters AS letters, s.digits AS digits, s.spaces AS spaces, s.newlines AS newlines,
           s.punctuation AS punctuation, s.high_bytes AS high_bytes, s.vocabulary_tokens AS vocabulary_tokens,
           row_number() OVER (PARTITION BY g.chain_hash ORDER BY s.request_key) AS copy
    FROM summed AS s
    JOIN billed AS b ON b.request_key = s.request_key
    JOIN segments AS g ON g.request_key = s.request_key AND g.pos = s.last_pos AND g.is_boundary
    WHERE s.known = s.parts AND s.bytes > 0 AND b.tok_input + b.cached > 0
),
placed AS (
    SELECT request_key, model_id, session_id, chain_hash, tokens, cached, bytes, parts, letters, digits, spaces,
           newlines, punctuation, high_bytes, vocabulary_tokens,
           row_number() OVER (PARTITION BY model_id ORDER BY chain_hash) AS place
    FROM whole
    WHERE copy = 1
)
SELECT request_key, model_id, session_id, chain_hash, tokens, cached, bytes, parts, letters, digits, spaces, newlines,
       punctuation, high_bytes, vocabulary_tokens
FROM placed
WHERE place <= $most
