-- Scopes whose requests send the same tools in more than one order.
-- Returns (scope_id, requests, reordered, orders, prompt_bytes): requests with tools, those of them whose set of tools came in
-- several orders, the most orders of one set, and the mean bytes of a prompt.
WITH sets AS (
    SELECT scope_id, tools, tool_sum, count(*) AS requests, count(DISTINCT tools_chain) AS orders
    FROM layout_tools
    GROUP BY scope_id, tools, tool_sum
),
sized AS (
    SELECT scope_id, avg(prompt_bytes) AS prompt_bytes FROM layout_prompts GROUP BY scope_id
)
SELECT s.scope_id AS scope_id, sum(s.requests) AS requests,
       sum(CASE WHEN s.orders > 1 THEN s.requests ELSE 0 END) AS reordered,
       max(s.orders) AS orders, max(z.prompt_bytes) AS prompt_bytes
FROM sets AS s
JOIN sized AS z ON z.scope_id = s.scope_id
GROUP BY s.scope_id
HAVING max(s.orders) > 1
ORDER BY s.scope_id
