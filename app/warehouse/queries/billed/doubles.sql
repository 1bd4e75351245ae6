-- Calls of the days of {days}(day_us: a UTC day's start) that were logged twice: the same provider, model and tokens within
-- 2 s of a call of another source, or of one with the same prompt. at_us (noon UTC), provider, account, model_id, sources,
-- calls, then tokens and cost by class as in billed.logged.
WITH calls AS (
    SELECT
        r.request_key,
        r.start_us,
        r.start_us - r.start_us % 86400000000 + 43200000000 AS at_us,
        coalesce(r.provider, 'unassigned') AS provider,
        coalesce(r.account, 'unassigned') AS account,
        coalesce(r.model_id, r.model, 'unassigned') AS model_id,
        r.source,
        coalesce(r.exact_key, 0) AS prompt,
        {{input_tokens of r}} AS input_tokens,
        {{cache_read_tokens of r}} AS cache_read_tokens,
        {{cache_write_tokens of r}} AS cache_write_tokens,
        {{answer_tokens of r}} AS output_tokens,
        r.input_pusd, r.cache_read_pusd, r.cache_write_pusd,
        coalesce(r.output_pusd, 0) + coalesce(r.reasoning_pusd, 0) AS output_pusd,
        r.other_pusd
    FROM counted_requests r
    WHERE r.start_us - r.start_us % 86400000000 IN (SELECT day_us FROM {days}) AND r.cost_state <> 'not_billed'
),
beside AS (
    SELECT
        *,
        lag(start_us, 1, cast(-9000000000000000 AS BIGINT)) OVER w AS before_us,
        lag(source, 1, '') OVER w AS before_source,
        lag(prompt, 1, cast(0 AS BIGINT)) OVER w AS before_prompt
    FROM calls
    WHERE input_tokens + cache_read_tokens + cache_write_tokens + output_tokens > 0
    WINDOW w AS (
        PARTITION BY provider, model_id, input_tokens + cache_read_tokens + cache_write_tokens, output_tokens
        ORDER BY start_us, request_key
    )
)
SELECT
    at_us, provider, account, model_id,
    min(CASE WHEN before_source < source THEN before_source ELSE source END) AS one_source,
    max(CASE WHEN before_source < source THEN source ELSE before_source END) AS other_source,
    count(*) AS calls,
    sum(cast(input_tokens AS DECIMAL(38, 0))) AS input_tokens,
    sum(cast(input_pusd AS DECIMAL(38, 0))) AS input_pusd,
    sum(cast(cache_read_tokens AS DECIMAL(38, 0))) AS cache_read_tokens,
    sum(cast(cache_read_pusd AS DECIMAL(38, 0))) AS cache_read_pusd,
    sum(cast(cache_write_tokens AS DECIMAL(38, 0))) AS cache_write_tokens,
    sum(cast(cache_write_pusd AS DECIMAL(38, 0))) AS cache_write_pusd,
    sum(cast(output_tokens AS DECIMAL(38, 0))) AS output_tokens,
    sum(cast(output_pusd AS DECIMAL(38, 0))) AS output_pusd,
    sum(cast(other_pusd AS DECIMAL(38, 0))) AS other_pusd
FROM beside
WHERE start_us - before_us <= 2000000
    AND (source <> before_source OR (prompt <> 0 AND prompt = before_prompt))
GROUP BY at_us, provider, account, model_id
