-- How each request's prompt would be billed under its plan, from {hits}, the answer of replay.hits, as the temporary
-- table {into}(plan, scope_id, request_key, day, account, tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_30m,
-- tok_cache_write_1h, tok_cache_write_12h, replayed, billed): whole tokens; `replayed` are the reads before the capture rate,
-- `billed` the reads that the stream's own row has (NULL where it does not say).
-- {plans} as for replay.layout_probes with read_rate (capture) and write_class ('auto' where writing is free); {capture}(provider,
-- model_id, account, rate) overrides the plan's rate where the account has its own.
-- What is not captured is written again where writing is billed, else it is plain input. A request without any boundary (no
-- fingerprints) is left out. Where the prompt stays on its model and writing is free, reads never fall below the billed ones.
CREATE OR REPLACE TEMPORARY TABLE {into} AS
WITH deepest AS (
    SELECT request_key, cast(floor(pos / 1000000.0) AS integer) AS plan,
           max(CASE WHEN is_hit = 1 THEN tokens_upto ELSE 0 END) AS replayed,
           max(CASE WHEN is_write = 1 THEN tokens_upto ELSE 0 END) AS marked
    FROM {hits}
    GROUP BY request_key, cast(floor(pos / 1000000.0) AS integer)
),
covered AS (
    SELECT DISTINCT request_key FROM layout_bounds
),
served AS (
    SELECT p.plan AS plan, p.scope_id AS scope_id, p.write_class AS write_class, s.request_key AS request_key,
           s.day AS day, s.account AS account, s.prompt_tokens AS prompt_tokens,
           coalesce(d.replayed, 0) AS replayed, coalesce(d.marked, 0) AS marked, s.read_tokens AS billed,
           CASE WHEN p.write_class = 'auto'
                THEN greatest(cast(floor(coalesce(c.rate, p.read_rate) * coalesce(d.replayed, 0)) AS bigint),
                              coalesce(s.read_tokens, 0))
                ELSE cast(floor(coalesce(c.rate, p.read_rate) * coalesce(d.replayed, 0)) AS bigint) END AS reads
    FROM layout_stream AS s
    JOIN layout_requests AS r ON r.request_key = s.request_key
    JOIN {plans} AS p ON p.scope_id = r.scope_id AND p.provider = s.provider AND p.model_id = s.model_id
    JOIN covered AS b ON b.request_key = s.request_key
    LEFT JOIN deepest AS d ON d.request_key = s.request_key AND d.plan = p.plan
    LEFT JOIN {capture} AS c
      ON c.provider = s.provider AND c.model_id = s.model_id AND c.account = s.account
    WHERE p.marking IN ('all', 'marks', 'billed')
),
written AS (
    SELECT plan, scope_id, request_key, day, account, prompt_tokens, replayed, billed, write_class,
           least(reads, prompt_tokens) AS reads,
           CASE WHEN write_class = 'auto' THEN 0 ELSE greatest(least(marked, prompt_tokens) - reads, 0) END AS writes
    FROM served
)
SELECT plan, scope_id, request_key, day, account,
       prompt_tokens - reads - writes AS tok_input,
       reads AS tok_cache_read,
       CASE WHEN write_class = '5m' THEN writes ELSE 0 END AS tok_cache_write_5m,
       CASE WHEN write_class = '30m' THEN writes ELSE 0 END AS tok_cache_write_30m,
       CASE WHEN write_class = '1h' THEN writes ELSE 0 END AS tok_cache_write_1h,
       CASE WHEN write_class = '12h' THEN writes ELSE 0 END AS tok_cache_write_12h,
       replayed, billed
FROM written
