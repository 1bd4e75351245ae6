-- The boundaries behind the zone as they would be with the changing text of the zone in the newest message, for scopes in
-- {turns}(scope_id), as the temporary table layout_behind(request_key, scope_id, pos, key, share). The prompt's end keeps its own
-- prefix: the newest message holds what changes.
CREATE OR REPLACE TEMPORARY TABLE layout_behind AS
SELECT request_key, scope_id, 2 * pos AS pos,
       CASE WHEN from_end = 1 THEN chain_hash
            ELSE cast(hash(first_key, sum(link) OVER (PARTITION BY request_key ORDER BY pos
                 ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) >> 1 AS bigint) END AS key,
       CASE WHEN from_end = 1 THEN 1.0 ELSE (weight_upto - moved_weight) / prompt_weight END AS share
FROM (
    SELECT g.request_key AS request_key, g.scope_id AS scope_id, g.pos AS pos, g.chain_hash AS chain_hash,
           g.weight_upto AS weight_upto, f.key AS first_key, f.moved_weight AS moved_weight,
           cast(m.prompt_weight AS double) AS prompt_weight,
           cast(hash(g.seg_hash, row_number() OVER (PARTITION BY g.request_key ORDER BY g.pos)) >> 1
                AS decimal(38, 0)) AS link,
           row_number() OVER (PARTITION BY g.request_key ORDER BY g.pos DESC) AS from_end
    FROM layout_parts AS g
    JOIN {turns} AS t ON t.scope_id = g.scope_id
    JOIN layout_moved AS m ON m.request_key = g.request_key
    JOIN layout_firsts AS f ON f.request_key = g.request_key
    WHERE g.part = 1 AND g.pos > m.zone_to
) AS placed
