-- The cache events of layout_stream under a plan, for replay.hits, as the temporary table layout_events.
-- {plans}(plan, scope_id, provider, model_id, layout, marking, mark_last, granularity, min_tokens, lookback, ttl_us, ready_us):
--   marking 'all' writes every boundary (providers that match any prefix), 'marks' the ordinals in {marks}(plan, scope_id,
--   ordinal) and, with mark_last = 1, the end of the prompt, 'billed' the boundary that the billed cache tokens reach.
-- Several plans of one scope are replayed side by side: a plan is part of every key. Tokens are the stream's prompt tokens cut
-- at the boundary's share of bytes, so a request that changed model or left the stream is replayed as it is there.
-- The event's request_key is the stream's; `plan` rides in pos (pos = plan * 1000000 + pos + 2).
CREATE OR REPLACE TEMPORARY TABLE layout_events AS
WITH reached AS (
    SELECT s.request_key, s.start_us, s.provider, s.model_id, s.account,
           p.plan, p.scope_id, p.marking, p.mark_last, p.lookback, p.ttl_us, p.ready_us,
           b.pos, b.ordinal, b.from_end, b.key,
           cast(floor(b.share * s.prompt_tokens / p.granularity) AS bigint) * p.granularity AS tokens_upto,
           CASE WHEN p.marking = 'billed' THEN max(
                CASE WHEN b.ordinal > 0 AND b.share * s.prompt_tokens <= 1.01 * s.cached_tokens THEN b.ordinal END
           ) OVER (PARTITION BY p.plan, s.request_key) END AS billed_ordinal,
           p.min_tokens
    FROM layout_stream AS s
    JOIN layout_requests AS r ON r.request_key = s.request_key
    JOIN {plans} AS p ON p.scope_id = r.scope_id AND p.provider = s.provider AND p.model_id = s.model_id
    JOIN layout_bounds AS b ON b.request_key = s.request_key AND b.layout = p.layout
),
chosen AS (
    SELECT e.*, CASE WHEN e.marking = 'all' THEN 1
                     WHEN e.marking = 'billed' THEN CASE WHEN e.ordinal = e.billed_ordinal THEN 1 ELSE 0 END
                     WHEN e.mark_last = 1 AND e.from_end = 0 AND e.ordinal > 0 THEN 1
                     WHEN m.ordinal IS NOT NULL THEN 1 ELSE 0 END AS writes
    FROM reached AS e
    LEFT JOIN {marks} AS m ON m.plan = e.plan AND m.scope_id = e.scope_id AND m.ordinal = e.ordinal
    WHERE e.tokens_upto >= e.min_tokens AND e.tokens_upto > 0
)
SELECT cast(hash(plan, provider, model_id, account, key) >> 1 AS bigint) AS key,
       start_us, request_key, plan * 1000000 + pos + 2 AS pos, tokens_upto,
       CASE WHEN writes = 1 THEN start_us + ready_us END AS ready_us, ttl_us
FROM chosen
WHERE writes = 1
   OR (marking = 'marks' AND mark_last = 1 AND ordinal > 0 AND from_end <= lookback)
   OR (marking = 'billed' AND ordinal BETWEEN billed_ordinal - lookback AND billed_ordinal)
