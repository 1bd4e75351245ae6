-- The cache primitive: which boundaries of a prompt stood in a prefix cache when the request came.
-- Reads {events}(key, start_us, request_key, pos, tokens_upto, ready_us, ttl_us), one row a probed boundary:
--   key        the whole prefix up to this boundary, cache scope included
--   ready_us   when the entry that this request writes here becomes readable; NULL where it only probes
--   ttl_us     the sliding lifetime of the entry, in microseconds, at most 3000000000000000000 (unlimited)
-- Touches of a key are split into runs at gaps above the lifetime. A probe hits if an earlier touch of its run wrote an
-- entry that is readable by now. A touch of a live entry renews it, readable or not.
-- Exactly equal to a sequential simulator with unlimited capacity. Times must be below 1000000000000000000.
-- Returns (key, request_key, pos, start_us, tokens_upto, is_write, is_hit; both 0 or 1), one row an event.
WITH gaps AS (
    SELECT key, start_us, request_key, pos, tokens_upto, ready_us,
           CASE WHEN start_us - lag(start_us, 1, -4000000000000000000)
                    OVER (PARTITION BY key ORDER BY start_us, request_key, pos) > ttl_us
                THEN 1 ELSE 0 END AS starts_run
    FROM {events}
),
runs AS (
    SELECT key, start_us, request_key, pos, tokens_upto, ready_us,
           sum(starts_run) OVER (PARTITION BY key ORDER BY start_us, request_key, pos
                                 ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS run
    FROM gaps
)
SELECT key, request_key, pos, start_us, tokens_upto,
       CASE WHEN ready_us IS NULL THEN 0 ELSE 1 END AS is_write,
       CASE WHEN min(ready_us) OVER (PARTITION BY key, run ORDER BY start_us, request_key, pos
                                     ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) <= start_us
            THEN 1 ELSE 0 END AS is_hit
FROM runs
