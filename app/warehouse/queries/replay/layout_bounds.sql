-- The boundaries of every prompt in all layouts, as the temporary table
-- layout_bounds(request_key, scope_id, layout, pos, ordinal, from_end, key, share):
--   layout   0 as sent; 1 stable text of the zone first, then its changing text, and tools in one fixed order where layout_sorted
--            has them (prompts of layout_moved); 2 the same with the changing text of the zone in the newest message, for scopes
--            in {turns}(scope_id)
--   pos      twice the part's position, so that the end of moved stable text has a place of its own
--   ordinal  number of the boundary among ends of parts, from 1, all tools being one part; 0 for a block inside a part
--   from_end number of part ends behind it, 0 for the last
--   key      equal where the whole prefix is equal; share: of the prompt's weight up to here
-- A moved zone has one boundary at the end of its stable text; behind the zone the prefixes are equal where they were.
CREATE OR REPLACE TEMPORARY TABLE layout_bounds AS
WITH sorted_prompts AS (
    SELECT DISTINCT request_key FROM layout_sorted
),
every AS (
    SELECT g.request_key AS request_key, g.scope_id AS scope_id, 0 AS layout, 2 * g.pos AS pos,
           CASE WHEN g.role = 'tools' AND g.pos < p.tools_to THEN 0 ELSE g.part END AS part, g.chain_hash AS key,
           g.weight_upto / cast(p.prompt_weight AS double) AS share
    FROM layout_parts AS g
    JOIN layout_prompts AS p ON p.request_key = g.request_key
    WHERE p.prompt_weight > 0
    UNION ALL
    SELECT g.request_key AS request_key, g.scope_id AS scope_id, 1 AS layout, 2 * g.pos AS pos,
           CASE WHEN g.role = 'tools' AND g.pos < p.tools_to THEN 0 ELSE g.part END AS part,
           coalesce(t.key, g.chain_hash) AS key, g.weight_upto / cast(m.prompt_weight AS double) AS share
    FROM layout_parts AS g
    JOIN layout_moved AS m ON m.request_key = g.request_key
    JOIN layout_prompts AS p ON p.request_key = g.request_key
    LEFT JOIN sorted_prompts AS r ON r.request_key = g.request_key
    LEFT JOIN layout_sorted AS t ON t.request_key = g.request_key AND t.pos = g.pos
    WHERE (g.pos < m.zone_from OR g.pos >= m.zone_to) AND (r.request_key IS NULL OR t.key IS NOT NULL)
    UNION ALL
    SELECT request_key, scope_id, 1 AS layout, pos, 1 AS part, key, share
    FROM layout_firsts
    WHERE stable_units > 0
    UNION ALL
    SELECT g.request_key AS request_key, g.scope_id AS scope_id, 2 AS layout, 2 * g.pos AS pos,
           CASE WHEN g.role = 'tools' AND g.pos < p.tools_to THEN 0 ELSE g.part END AS part,
           coalesce(t.key, g.chain_hash) AS key, g.weight_upto / cast(m.prompt_weight AS double) AS share
    FROM layout_parts AS g
    JOIN {turns} AS c ON c.scope_id = g.scope_id
    JOIN layout_moved AS m ON m.request_key = g.request_key
    JOIN layout_prompts AS p ON p.request_key = g.request_key
    LEFT JOIN sorted_prompts AS r ON r.request_key = g.request_key
    LEFT JOIN layout_sorted AS t ON t.request_key = g.request_key AND t.pos = g.pos
    WHERE g.pos < m.zone_from AND (r.request_key IS NULL OR t.key IS NOT NULL)
    UNION ALL
    SELECT f.request_key AS request_key, f.scope_id AS scope_id, 2 AS layout, f.pos AS pos, 1 AS part, f.key AS key,
           f.share AS share
    FROM layout_firsts AS f
    JOIN {turns} AS c ON c.scope_id = f.scope_id
    WHERE f.stable_units > 0
    UNION ALL
    SELECT request_key, scope_id, 2 AS layout, pos, 1 AS part, key, share
    FROM layout_behind
)
SELECT request_key, scope_id, layout, pos,
       CASE WHEN part = 1 THEN sum(part) OVER (PARTITION BY request_key, layout ORDER BY share, pos
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) ELSE 0 END AS ordinal,
       sum(part) OVER (PARTITION BY request_key, layout) - sum(part) OVER (PARTITION BY request_key, layout
            ORDER BY share, pos ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS from_end,
       key, share
FROM every
