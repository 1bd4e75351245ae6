-- Every pair of overlap_pairs with its twins and those found by chance (the mean of two moved clocks): source_a, source_b,
-- from_us, to_us, calls_a, calls_b, twins, chance.
WITH counted AS (
    SELECT source_a, source_b, sum(twins) AS twins, sum(chance) AS chance
    FROM (
        SELECT source_a, source_b, count(*) AS twins, 0.0 AS chance FROM overlap_twins GROUP BY source_a, source_b
        UNION ALL
        SELECT source_a, source_b, 0 AS twins, count(*) / 2.0 AS chance FROM overlap_later GROUP BY source_a, source_b
        UNION ALL
        SELECT source_a, source_b, 0 AS twins, count(*) / 2.0 AS chance FROM overlap_earlier GROUP BY source_a, source_b
    ) AS each_clock
    GROUP BY source_a, source_b
)
SELECT
    p.source_a, p.source_b, p.from_us, p.to_us, p.calls_a, p.calls_b,
    coalesce(c.twins, 0) AS twins,
    coalesce(c.chance, 0.0) AS chance
FROM overlap_pairs p
LEFT JOIN counted c ON c.source_a = p.source_a AND c.source_b = p.source_b
ORDER BY 1, 2
