-- The stable text inside each unstable part of the zone, for scopes in {broken}(scope_id), as the temporary table
-- layout_heads(scope_id, seg_hash, stable_share of the part's bytes, stable_lines, stable_sum): number and sum of the hashes of
-- its stable lines, equal where two parts have the same ones. Parts of one line come from layout_masked instead: what stays of
-- them when volatile values are taken out.
CREATE OR REPLACE TEMPORARY TABLE layout_heads AS
SELECT h.scope_id AS scope_id, h.seg_hash AS seg_hash,
       sum(CASE WHEN t.line_hash IS NULL THEN 0 ELSE l.bytes END) / cast(sum(l.bytes) AS double) AS stable_share,
       sum(CASE WHEN t.line_hash IS NULL THEN 0 ELSE 1 END) AS stable_lines,
       sum(CASE WHEN t.line_hash IS NULL THEN 0 ELSE cast(l.line_hash AS decimal(38, 0)) END) AS stable_sum
FROM layout_zone_parts AS h
JOIN {broken} AS b ON b.scope_id = h.scope_id
JOIN lines AS l ON l.seg_hash = h.seg_hash
LEFT JOIN layout_stable_lines AS t ON t.scope_id = h.scope_id AND t.line_hash = l.line_hash
WHERE h.stable = 0 AND NOT EXISTS (
    SELECT 1 FROM layout_masked AS x WHERE x.scope_id = h.scope_id AND x.seg_hash = h.seg_hash)
GROUP BY h.scope_id, h.seg_hash
HAVING sum(l.bytes) > 0
UNION ALL
SELECT scope_id, seg_hash, share, 1, cast(rest AS decimal(38, 0))
FROM layout_masked
