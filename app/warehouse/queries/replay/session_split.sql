-- Adds to {into} (columns of replay.layout_split) how the steps of session_steps would be billed under the plans with marking
-- 'session' (all of a prompt is marked: a step reads the step before it as far as its own prompt goes, while that lives) and
-- 'session billed' (as sent: only what the step before really cached, for the lifetime it was written with).
-- {plans} as for replay.layout_split with start_tokens, read at once where nothing of the session lives.
INSERT INTO {into}
SELECT plan, scope_id, request_key, day, account,
       prompt_tokens - reads - writes,
       reads,
       CASE WHEN write_class = '5m' THEN writes ELSE 0 END,
       CASE WHEN write_class = '30m' THEN writes ELSE 0 END,
       CASE WHEN write_class = '1h' THEN writes ELSE 0 END,
       CASE WHEN write_class = '12h' THEN writes ELSE 0 END,
       replayed, billed
FROM (
    SELECT plan, scope_id, request_key, day, account, prompt_tokens, replayed, billed, write_class, reads,
           CASE WHEN prompt_tokens >= min_tokens THEN prompt_tokens - reads ELSE 0 END AS writes
    FROM (
        SELECT p.plan AS plan, p.scope_id AS scope_id, p.write_class AS write_class, p.min_tokens AS min_tokens,
               s.request_key AS request_key, s.day AS day, s.account AS account, s.prompt_tokens AS prompt_tokens,
               s.read_tokens AS billed, step.replayed AS replayed,
               cast(floor(coalesce(c.rate, p.read_rate) * step.replayed) AS bigint) AS reads
        FROM (
            SELECT t.request_key AS request_key, p.plan AS plan, least(t.prompt_tokens, CASE
                       WHEN p.marking = 'session' AND t.gap_us <= p.ttl_us AND t.prior_prompt >= p.min_tokens
                           THEN t.prior_prompt
                       WHEN p.marking = 'session billed' AND t.prior_cached > 0
                            AND t.gap_us <= CASE WHEN t.prior_long = 1 THEN p.long_ttl_us ELSE p.ttl_us END
                           THEN t.prior_cached
                       ELSE p.start_tokens END) AS replayed
            FROM session_steps AS t
            JOIN {plans} AS p ON p.scope_id = t.scope_id AND p.provider = t.provider AND p.model_id = t.model_id
            WHERE p.marking IN ('session', 'session billed')
        ) AS step
        JOIN session_steps AS s ON s.request_key = step.request_key
        JOIN {plans} AS p ON p.plan = step.plan AND p.scope_id = s.scope_id AND p.provider = s.provider
            AND p.model_id = s.model_id
        LEFT JOIN {capture} AS c
          ON c.provider = s.provider AND c.model_id = s.model_id AND c.account = s.account
    ) AS served
) AS written
