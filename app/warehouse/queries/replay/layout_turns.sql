-- Scopes whose changing system text stands before a conversation: there it can also go into the newest message.
-- Returns (scope_id): broken scopes with system parts and at least $parts parts behind them on average.
SELECT p.scope_id AS scope_id
FROM layout_prompts AS p
JOIN {broken} AS b ON b.scope_id = p.scope_id
JOIN layout_parts AS g ON g.request_key = p.request_key AND g.part = 1 AND g.pos > p.zone_to
WHERE p.zone_is_system = 1
GROUP BY p.scope_id
HAVING count(*) >= $parts * count(DISTINCT p.request_key)
ORDER BY p.scope_id
