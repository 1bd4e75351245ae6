-- Each prompt of the scopes in {broken}(scope_id) with the stable text of its zone put first, as the temporary table
-- layout_moved(request_key, scope_id, zone_from, zone_to, prompt_weight, weight_before, zone_weight,
-- stable_weight, stable_units, stable_sum).
CREATE OR REPLACE TEMPORARY TABLE layout_moved AS
SELECT p.request_key AS request_key, p.scope_id AS scope_id, p.zone_from AS zone_from, p.zone_to AS zone_to,
       p.prompt_weight AS prompt_weight,
       min(g.weight_upto - g.weight) AS weight_before,
       sum(g.weight) AS zone_weight,
       sum(CASE WHEN z.stable = 1 THEN g.weight ELSE g.weight * coalesce(h.stable_share, 0) END) AS stable_weight,
       sum(CASE WHEN z.stable = 1 THEN 1 ELSE coalesce(h.stable_lines, 0) END) AS stable_units,
       sum(CASE WHEN z.stable = 1 THEN cast(g.seg_hash AS decimal(38, 0)) ELSE coalesce(h.stable_sum, 0) END) AS stable_sum
FROM layout_prompts AS p
JOIN {broken} AS b ON b.scope_id = p.scope_id
JOIN layout_parts AS g ON g.request_key = p.request_key AND g.part = 1 AND g.pos BETWEEN p.zone_from AND p.zone_to
JOIN layout_zone_parts AS z ON z.scope_id = p.scope_id AND z.seg_hash = g.seg_hash
LEFT JOIN layout_heads AS h ON h.scope_id = p.scope_id AND h.seg_hash = g.seg_hash
GROUP BY p.request_key, p.scope_id, p.zone_from, p.zone_to, p.prompt_weight
