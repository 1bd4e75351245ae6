-- The tools of each prompt with at least two of them, as the temporary table layout_tools(request_key, scope_id, tools, tool_sum,
-- tools_chain, tools_bytes): tool_sum is equal where the set of tools is, tools_chain where their order is too.
CREATE OR REPLACE TEMPORARY TABLE layout_tools AS
SELECT p.request_key AS request_key, p.scope_id AS scope_id, count(*) AS tools,
       sum(cast(g.seg_hash AS decimal(38, 0))) AS tool_sum,
       max(CASE WHEN g.pos = p.tools_to THEN g.chain_hash END) AS tools_chain, sum(g.bytes) AS tools_bytes
FROM layout_prompts AS p
JOIN layout_parts AS g ON g.request_key = p.request_key AND g.part = 1 AND g.role = 'tools'
GROUP BY p.request_key, p.scope_id
HAVING count(*) > 1
