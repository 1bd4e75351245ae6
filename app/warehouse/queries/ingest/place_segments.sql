-- Puts the segments of joined rows (incoming_places: request_key, prompt_bytes, prompt_tokens, start_us) at the tokens and the
-- time of their row: prompt_tokens x bytes_upto / prompt_bytes to the nearest whole token, halves up.
UPDATE segments SET
    tokens_upto = cast(floor(cast(p.prompt_tokens AS DOUBLE) * segments.bytes_upto / p.prompt_bytes + 0.5) AS BIGINT),
    start_us = p.start_us
FROM incoming_places AS p
WHERE segments.request_key = p.request_key
    AND (
        segments.start_us IS DISTINCT FROM p.start_us
        OR segments.tokens_upto IS DISTINCT FROM
        cast(floor(cast(p.prompt_tokens AS DOUBLE) * segments.bytes_upto / p.prompt_bytes + 0.5) AS BIGINT)
    )
