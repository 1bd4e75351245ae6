-- Steps of sessions without any prompt, as the temporary table session_steps: each request of layout_requests that has a session
-- and no fingerprints, beside the step before it in its session on its model.
-- Columns: request_key, scope_id, provider, model_id, account, day, prompt_tokens, cached_tokens, read_tokens, gap_us (since the
-- step before; 4e18 for the first), prior_prompt, prior_cached (0 for the first), prior_long 0 or 1 (the step before wrote with
-- a lifetime of an hour or more).
CREATE OR REPLACE TEMPORARY TABLE session_steps AS
SELECT request_key, scope_id, provider, model_id, account, day, prompt_tokens, cached_tokens, read_tokens,
       start_us - lag(start_us, 1, -4000000000000000000)
           OVER (PARTITION BY session_id, provider, model_id ORDER BY start_us, request_key) AS gap_us,
       lag(prompt_tokens, 1, 0)
           OVER (PARTITION BY session_id, provider, model_id ORDER BY start_us, request_key) AS prior_prompt,
       lag(cached_tokens, 1, 0)
           OVER (PARTITION BY session_id, provider, model_id ORDER BY start_us, request_key) AS prior_cached,
       lag(long_write, 1, 0)
           OVER (PARTITION BY session_id, provider, model_id ORDER BY start_us, request_key) AS prior_long
FROM (
    SELECT s.request_key AS request_key, r.scope_id AS scope_id, s.provider AS provider, s.model_id AS model_id,
           s.account AS account, s.day AS day, s.prompt_tokens AS prompt_tokens, s.cached_tokens AS cached_tokens,
           s.read_tokens AS read_tokens, s.start_us AS start_us, s.session_id AS session_id,
           CASE WHEN coalesce(s.tok_cache_write_1h, 0) + coalesce(s.tok_cache_write_12h, 0) > 0 THEN 1 ELSE 0 END
               AS long_write
    FROM layout_stream AS s
    JOIN layout_requests AS r ON r.request_key = s.request_key
    LEFT JOIN layout_prompts AS p ON p.request_key = s.request_key
    WHERE s.session_id IS NOT NULL AND p.request_key IS NULL AND r.marked = 1
) AS known
