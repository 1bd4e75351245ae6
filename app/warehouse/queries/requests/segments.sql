-- The message parts of one request's prompt, in order, at most $limit: pos, role, kind, seg_hash, bytes, bytes_upto,
-- tokens_upto. Where token positions were fitted to the model, tokens_upto is the prompt's tokens cut by the weights that
-- replay.layout_parts_weighed says; elsewhere it is as it was stored, by bytes.
WITH weighed AS (
    SELECT g.pos, g.role, g.kind, g.seg_hash, g.bytes, g.bytes_upto, g.tokens_upto, f.method,
           CASE WHEN f.method IS NULL THEN g.bytes
                WHEN m.seg_hash IS NULL THEN f.a_part + f.a_byte * g.bytes
                ELSE f.a_part + (
                    f.a_vocabulary_token * m.vocabulary_tokens + f.a_letter * m.letters + f.a_digit * m.digits
                    + f.a_space * m.spaces + f.a_newline * m.newlines + f.a_punctuation * m.punctuation
                    + f.a_high_byte * m.high_bytes) * g.bytes / m.bytes END AS weight
    FROM segments AS g
    JOIN requests AS r ON r.request_key = g.request_key
    LEFT JOIN token_fits AS f ON f.model_id = r.model_id AND f.method <> 'bytes'
    LEFT JOIN text_measures AS m ON m.seg_hash = g.seg_hash AND m.bytes > 0
    WHERE g.request_key = $request_key AND g.is_boundary
),
placed AS (
    SELECT pos, role, kind, seg_hash, bytes, bytes_upto, method, tokens_upto,
           max(tokens_upto) OVER () AS tokens, sum(weight) OVER () AS whole_weight,
           sum(weight) OVER (ORDER BY pos ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS weight_upto
    FROM weighed
)
SELECT pos, role, kind, seg_hash, bytes, bytes_upto,
       CASE WHEN method IS NULL OR whole_weight <= 0 THEN tokens_upto
            ELSE cast(round(tokens * (weight_upto / whole_weight)) AS bigint) END AS tokens_upto
FROM placed
ORDER BY pos
LIMIT $limit
