-- The calls of the traces in incoming_traces, started in [from_us, to_us), that repeat the usage of calls under them in
-- the same trace: request_key, trace_id, span_id, parent_id, start_us. What stands under what is told by parent ids, through
-- spans that are no calls. A call repeats those under it where it reports nothing, has no response id or that of one
-- under it, or reports exactly their sum. Langfuse's observations have ids of their own and seldom a response's: there
-- a missing one says nothing.
WITH RECURSIVE
calls AS (
    SELECT
        request_key, trace_id, parent_id, source_record, provider_response_id, start_us,
        source IN (SELECT source FROM sources WHERE format = 'langfuse') AS own_ids,
        coalesce(
            tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h,
            tok_cache_write_12h, tok_input_audio, tok_cache_read_audio, tok_input_image,
            tok_output, tok_reasoning, tok_output_audio, tok_output_image
        ) IS NOT NULL AS has_usage,
        coalesce(tok_input, 0) + coalesce(tok_cache_read, 0) + coalesce(tok_cache_write_5m, 0)
        + coalesce(tok_cache_write_30m, 0) + coalesce(tok_cache_write_1h, 0) + coalesce(tok_cache_write_12h, 0)
        + coalesce(tok_input_audio, 0) + coalesce(tok_cache_read_audio, 0) + coalesce(tok_input_image, 0) AS tokens_in,
        coalesce(tok_output, 0) + coalesce(tok_reasoning, 0) + coalesce(tok_output_audio, 0)
        + coalesce(tok_output_image, 0) AS tokens_out
    FROM requests
    WHERE start_us >= $from_us AND start_us < $to_us AND trace_id IN (SELECT trace_id FROM incoming_traces)
),

links AS (
    SELECT trace_id, span_id, parent_id
    FROM span_links
    WHERE (start_us IS NULL OR (start_us >= $from_us AND start_us < $to_us))
        AND trace_id IN (SELECT trace_id FROM incoming_traces)
),

up AS (
    SELECT request_key AS under_key, trace_id, parent_id AS above
    FROM calls
    WHERE parent_id IS NOT NULL AND has_usage
    UNION
    SELECT u.under_key, u.trace_id, l.parent_id
    FROM up AS u
    INNER JOIN links AS l ON l.trace_id = u.trace_id AND l.span_id = u.above
)

SELECT h.request_key, h.trace_id, min(u.above) AS span_id, h.parent_id, h.start_us
FROM calls AS h
INNER JOIN up AS u
    ON u.trace_id = h.trace_id
    AND h.source_record = CASE WHEN h.own_ids THEN u.above ELSE u.trace_id || '/' || u.above END
    AND u.under_key <> h.request_key
INNER JOIN calls AS c ON c.request_key = u.under_key
GROUP BY
    h.request_key, h.trace_id, h.parent_id, h.start_us, h.provider_response_id, h.own_ids, h.has_usage, h.tokens_in,
    h.tokens_out
HAVING
    NOT h.has_usage
    OR (h.provider_response_id IS NULL AND NOT h.own_ids)
    OR max(CASE WHEN c.provider_response_id = h.provider_response_id THEN 1 ELSE 0 END) = 1
    OR (h.tokens_in = sum(c.tokens_in) AND h.tokens_out = sum(c.tokens_out))
