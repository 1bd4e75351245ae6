-- layout_parts with weights in thousandths of a token, as fitted to each model (token_fits): measures of a part's text times
-- their coefficients, scaled to its bytes where something was redacted; of a part without a measure its bytes times a_byte; its
-- bytes where the model has no fit. A block lies in its part where its bytes end. Weights are whole numbers, so that sums of them
-- never fall.
CREATE OR REPLACE TEMPORARY TABLE layout_parts AS
WITH weighed AS (
    SELECT r.request_key AS request_key, r.scope_id AS scope_id, g.pos AS pos,
           CASE WHEN g.is_boundary THEN 1 ELSE 0 END AS part, g.role AS role, g.seg_hash AS seg_hash,
           g.chain_hash AS chain_hash, g.bytes AS bytes, g.bytes_upto AS bytes_upto,
           CASE WHEN NOT g.is_boundary THEN 0
                WHEN f.method IS NULL THEN g.bytes
                WHEN m.seg_hash IS NULL THEN cast(round(1000.0 * (f.a_part + f.a_byte * g.bytes)) AS bigint)
                ELSE cast(round(1000.0 * (f.a_part + (
                         f.a_vocabulary_token * m.vocabulary_tokens + f.a_letter * m.letters + f.a_digit * m.digits
                         + f.a_space * m.spaces + f.a_newline * m.newlines + f.a_punctuation * m.punctuation
                         + f.a_high_byte * m.high_bytes) * g.bytes / m.bytes)) AS bigint) END AS weight
    FROM layout_requests AS r
    JOIN segments AS g ON g.request_key = r.request_key
    LEFT JOIN token_fits AS f ON f.model_id = r.model_id
    LEFT JOIN text_measures AS m ON m.seg_hash = g.seg_hash AND m.bytes > 0
    WHERE g.is_boundary OR r.marked = 0
),
summed AS (
    SELECT request_key, scope_id, pos, part, role, seg_hash, chain_hash, bytes, bytes_upto, weight,
           sum(weight) OVER (PARTITION BY request_key ORDER BY pos
               ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS weight_upto,
           sum(part) OVER (PARTITION BY request_key ORDER BY pos DESC
               ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS nth
    FROM weighed
),
around AS (
    SELECT request_key, scope_id, pos, part, role, seg_hash, chain_hash, bytes, bytes_upto, weight, weight_upto,
           max(weight) OVER (PARTITION BY request_key, nth) AS part_weight,
           max(part * bytes) OVER (PARTITION BY request_key, nth) AS part_bytes,
           max(bytes_upto) OVER (PARTITION BY request_key, nth) AS part_end
    FROM summed
)
SELECT request_key, scope_id, pos, part, role, seg_hash, chain_hash, bytes, bytes_upto, weight,
       CASE WHEN part = 1 OR part_bytes = 0 THEN cast(weight_upto AS bigint)
            ELSE cast(weight_upto + floor(part_weight * (1.0 - (part_end - bytes_upto) / cast(part_bytes AS double)))
                 AS bigint) END AS weight_upto
FROM around
