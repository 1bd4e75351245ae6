-- Pauses between one request of {wanted}(scope_id) and the next of the same scope.
-- Returns (scope_id, gaps, typical_us): number of pauses, and their median as the mean of the two middle ones.
WITH gaps AS (
    SELECT r.scope_id AS scope_id,
           s.start_us - lag(s.start_us, 1, s.start_us) OVER (PARTITION BY r.scope_id ORDER BY s.start_us, s.request_key) AS gap,
           row_number() OVER (PARTITION BY r.scope_id ORDER BY s.start_us, s.request_key) AS place
    FROM layout_stream AS s
    JOIN layout_requests AS r ON r.request_key = s.request_key
    JOIN {wanted} AS w ON w.scope_id = r.scope_id
),
ranked AS (
    SELECT scope_id, gap, row_number() OVER (PARTITION BY scope_id ORDER BY gap) AS place,
           count(*) OVER (PARTITION BY scope_id) AS gaps
    FROM gaps
    WHERE place > 1
)
SELECT scope_id, max(gaps) AS gaps, cast(avg(gap) AS bigint) AS typical_us
FROM ranked
WHERE 2 * place BETWEEN gaps AND gaps + 2
GROUP BY scope_id
ORDER BY scope_id
