-- How many groups of overlap_islands are one call of each source, which are twins: source_a, source_b, twins.
SELECT source_a, source_b, sum(side) AS twins
FROM overlap_islands
WHERE calls_a = 1 AND calls_b = 1
GROUP BY source_a, source_b
ORDER BY source_a, source_b
