-- Calls of the days of {days}(day_us: a UTC day's start) of which not all tokens are known, of sources billed by the request:
-- at_us (noon UTC), provider, account, model_id ('unassigned' where unknown), prompt_calls and answer_calls (those of which
-- no prompt or no answer tokens are known), calls (either).
WITH billing_of AS (
    SELECT source AS billed_source, max(billing) AS billing FROM sources GROUP BY source
),
told AS (
    SELECT
        r.start_us - r.start_us % 86400000000 + 43200000000 AS at_us,
        coalesce(r.provider, 'unassigned') AS provider,
        coalesce(r.account, 'unassigned') AS account,
        coalesce(r.model_id, r.model, 'unassigned') AS model_id,
        {{any_prompt_tokens of r}} IS NULL AS no_prompt,
        {{any_answer_tokens of r}} IS NULL
            AND coalesce(r.operation, 'chat') IN ('chat', 'completion', 'agent_run') AS no_answer
    FROM counted_requests r
    INNER JOIN billing_of b ON b.billed_source = r.source AND b.billing = 'api'
    WHERE r.start_us - r.start_us % 86400000000 IN (SELECT day_us FROM {days}) AND r.cost_state <> 'not_billed'
        AND coalesce(r.service_tier, 'unassigned') NOT IN ('provisioned', 'reserved', 'scale')
)
SELECT
    at_us, provider, account, model_id,
    sum(CASE WHEN no_prompt THEN 1 ELSE 0 END) AS prompt_calls,
    sum(CASE WHEN no_answer THEN 1 ELSE 0 END) AS answer_calls,
    count(*) AS calls
FROM told
WHERE no_prompt OR no_answer
GROUP BY at_us, provider, account, model_id
