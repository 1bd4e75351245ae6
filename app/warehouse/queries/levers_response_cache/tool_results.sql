-- Repeated requests whose prompt carries the result of a tool: the world behind the tool may have moved on.
-- Returns (request_key).
SELECT DISTINCT g.request_key
FROM segments g
JOIN repeats r ON r.request_key = g.request_key
WHERE g.kind = 'tool_result'
