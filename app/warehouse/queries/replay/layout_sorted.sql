-- Whole prefixes as they would be with tools in one fixed order, for scopes in {reordered}(scope_id), as the temporary table
-- layout_sorted(request_key, pos, key): from the last tool on, equal where the set of tools and all parts behind it are.
CREATE OR REPLACE TEMPORARY TABLE layout_sorted AS
SELECT request_key, pos,
       cast(hash(tools, tool_sum, sum(link) OVER (PARTITION BY request_key ORDER BY place
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) >> 1 AS bigint) AS key
FROM (
    SELECT t.request_key AS request_key, g.pos AS pos, t.tools AS tools, t.tool_sum AS tool_sum, n.place AS place,
           CASE WHEN g.role = 'tools' THEN cast(0 AS decimal(38, 0))
                ELSE cast(hash(g.seg_hash, n.place) >> 1 AS decimal(38, 0)) END AS link
    FROM layout_tools AS t
    JOIN {reordered} AS r ON r.scope_id = t.scope_id
    JOIN layout_prompts AS p ON p.request_key = t.request_key
    JOIN layout_parts AS g ON g.request_key = t.request_key AND g.part = 1 AND g.pos >= p.tools_to
    JOIN (
        SELECT request_key, pos, row_number() OVER (PARTITION BY request_key ORDER BY pos) AS place
        FROM layout_parts
        WHERE part = 1
    ) AS n ON n.request_key = g.request_key AND n.pos = g.pos
) AS placed
