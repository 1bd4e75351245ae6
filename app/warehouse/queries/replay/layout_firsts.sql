-- The end of the stable text of each moved prompt, as the temporary table layout_firsts(request_key, scope_id, pos,
-- stable_units, key, share, moved_weight): equal keys where everything before the zone and its stable text are;
-- moved_weight is that of the zone's changing text.
CREATE OR REPLACE TEMPORARY TABLE layout_firsts AS
WITH before AS (
    SELECT e.request_key AS request_key, coalesce(t.key, g.chain_hash) AS key
    FROM (
        SELECT g.request_key AS request_key, max(g.pos) AS pos
        FROM layout_parts AS g
        JOIN layout_moved AS m ON m.request_key = g.request_key AND g.pos < m.zone_from
        WHERE g.part = 1
        GROUP BY g.request_key
    ) AS e
    JOIN layout_parts AS g ON g.request_key = e.request_key AND g.pos = e.pos
    LEFT JOIN layout_sorted AS t ON t.request_key = e.request_key AND t.pos = e.pos
)
SELECT m.request_key AS request_key, m.scope_id AS scope_id, 2 * m.zone_to - 1 AS pos, m.stable_units AS stable_units,
       cast(hash(coalesce(before.key, 0), m.stable_units, m.stable_sum) >> 1 AS bigint) AS key,
       (m.weight_before + m.stable_weight) / m.prompt_weight AS share,
       m.zone_weight - m.stable_weight AS moved_weight
FROM layout_moved AS m
LEFT JOIN before ON before.request_key = m.request_key
