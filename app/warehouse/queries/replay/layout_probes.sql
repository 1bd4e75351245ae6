-- The boundaries of layout_stream's prompts that matter under a plan, as the temporary table layout_probes(key, start_us,
-- request_key, pos, tokens_upto, ready_us, ttl_us): see replay.hits; ready_us is NULL where a boundary is only looked at.
-- {plans}(plan, scope_id, provider, model_id, layout, marking, mark_last, granularity, min_tokens, lookback, ttl_us,
-- ready_us, at_once):
--   marking 'all' writes every boundary (providers that match any prefix), 'marks' the ordinals in {marks}(plan, scope_id,
--   ordinal) and, with mark_last = 1, the end of the prompt, 'billed' the boundary of layout_billed.
-- An entry is readable from the first token of the answer on, or ready_us after the start where that is not logged; at once with
-- at_once = 1. Several plans of one scope are replayed side by side: a plan is part of every key. Tokens are the stream's
-- prompt tokens cut at the boundary's share of the prompt, so a request that changed model or left the stream is replayed
-- as it is there. The request_key is the stream's; the plan rides in pos (plan * 1000000 + pos + 2).
CREATE OR REPLACE TEMPORARY TABLE layout_probes AS
SELECT cast(hash(plan, provider, model_id, account, key) >> 1 AS bigint) AS key,
       start_us, request_key, plan * 1000000 + pos + 2 AS pos, tokens_upto,
       CASE WHEN writes = 1 THEN ready_us END AS ready_us, ttl_us
FROM (
    SELECT s.request_key AS request_key, s.start_us AS start_us, s.provider AS provider, s.model_id AS model_id,
           s.account AS account, p.plan AS plan, p.ttl_us AS ttl_us, p.min_tokens AS min_tokens,
           CASE WHEN p.at_once = 1 OR s.first_token_us < s.start_us THEN s.start_us
                ELSE coalesce(s.first_token_us, s.start_us + p.ready_us) END AS ready_us,
           b.pos, b.key,
           cast(floor(b.share * s.prompt_tokens / p.granularity) AS bigint) * p.granularity AS tokens_upto,
           CASE WHEN p.marking = 'all' THEN 1
                WHEN p.marking = 'billed' THEN CASE WHEN b.ordinal = billed.ordinal THEN 1 ELSE 0 END
                WHEN p.mark_last = 1 AND b.from_end = 0 AND b.ordinal > 0 THEN 1
                WHEN m.ordinal IS NOT NULL THEN 1 ELSE 0 END AS writes
    FROM layout_stream AS s
    JOIN layout_requests AS r ON r.request_key = s.request_key
    JOIN {plans} AS p ON p.scope_id = r.scope_id AND p.provider = s.provider AND p.model_id = s.model_id
    JOIN layout_bounds AS b ON b.request_key = s.request_key AND b.layout = p.layout
    LEFT JOIN layout_billed AS billed ON billed.request_key = s.request_key
    LEFT JOIN {marks} AS m ON m.plan = p.plan AND m.scope_id = p.scope_id AND m.ordinal = b.ordinal
    WHERE p.marking = 'all'
       OR (p.marking = 'marks'
           AND (m.ordinal IS NOT NULL OR (p.mark_last = 1 AND b.ordinal > 0 AND b.from_end <= p.lookback)))
       OR (p.marking = 'billed' AND b.ordinal BETWEEN billed.ordinal - p.lookback AND billed.ordinal)
) AS reached
WHERE tokens_upto >= min_tokens AND tokens_upto > 0
