-- Sources with requests that were never compared with the others, or have half as many more as then: source. Sizes are those of
-- the roll-up, so that asking costs no scan.
SELECT n.source
FROM (SELECT source, sum(requests) AS requests FROM spend_hour WHERE assigned_by <> 'bill' GROUP BY source) n
LEFT JOIN overlap_seen s ON s.source = n.source
WHERE s.source IS NULL OR 2 * n.requests >= 3 * s.requests + 40
ORDER BY n.source
