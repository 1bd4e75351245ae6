-- Requests that pay the real-time price, with the signs that somebody waits for them.
-- turn: it follows an earlier request of its session within ten minutes, and either its prompt has grown by that
-- answer (a chain: it could not have been sent before) or the session is small (a person's; a job's are large).
CREATE OR REPLACE TEMP TABLE batch_rows AS
WITH ordered AS (
    SELECT
        s.request_key, s.start_us, s.session_id, s.prompt_tokens,
        CASE WHEN s.stream THEN 1 ELSE 0 END AS streamed,
        CASE WHEN s.stream IS NULL THEN 1 ELSE 0 END AS stream_unknown,
        count(*) OVER (PARTITION BY s.session_id) AS session_size,
        lag(s.end_us, 1, cast(0 AS BIGINT)) OVER inside AS before_end_us,
        lag(coalesce(s.prompt_tokens, 0) + coalesce(s.tok_output, 0), 1, cast(0 AS BIGINT)) OVER inside
            AS before_tokens
    FROM stream s
    WHERE s.calls_summed IS NULL AND NOT s.is_batch AND coalesce(s.service_tier, '') NOT IN ('batch', 'flex')
      AND s.operation NOT IN ('audio', 'cache', 'rerank')  -- no batch endpoint takes these
    WINDOW inside AS (PARTITION BY s.session_id ORDER BY s.start_us, s.request_key)
)
SELECT
    request_key, streamed, stream_unknown,
    CASE WHEN session_id IS NULL OR before_end_us = 0 OR start_us - before_end_us >= 600000000 THEN 0
         WHEN session_size <= 50 OR coalesce(prompt_tokens, before_tokens) >= 0.8 * before_tokens THEN 1
         ELSE 0
    END AS turn
FROM ordered
