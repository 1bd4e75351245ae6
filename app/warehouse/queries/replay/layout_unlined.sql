-- Scopes whose zone changes with every request although no line of its changing parts is stable: one long line, a template
-- filled in the middle. Only scopes of at most $most distinct changing parts of at least $bytes bytes on average.
-- Returns (scope_id, parts, requests).
SELECT z.scope_id AS scope_id, count(*) AS parts, sum(z.requests) AS requests
FROM layout_zone_parts AS z
LEFT JOIN (SELECT scope_id, count(*) AS known FROM layout_stable_lines GROUP BY scope_id) AS l ON l.scope_id = z.scope_id
WHERE z.stable = 0 AND l.known IS NULL
GROUP BY z.scope_id
HAVING count(*) <= $most AND avg(z.bytes) >= $bytes AND count(*) > 1
ORDER BY z.scope_id
