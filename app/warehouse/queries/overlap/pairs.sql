-- The temporary table overlap_pairs: sources whose times meet in overlap_calls, and the calls of both in the time that both
-- cover: source_a, source_b, from_us, to_us, calls_a, calls_b.
CREATE OR REPLACE TEMP TABLE overlap_pairs AS
WITH spans AS (
    SELECT source, min(start_us) AS first_us, max(start_us) AS last_us FROM overlap_calls GROUP BY source
),
meeting AS (
    SELECT
        a.source AS source_a,
        b.source AS source_b,
        greatest(a.first_us, b.first_us) - $near_us AS from_us,
        least(a.last_us, b.last_us) + $near_us + 1 AS to_us
    FROM spans a
    JOIN spans b ON b.source > a.source
    WHERE greatest(a.first_us, b.first_us) <= least(a.last_us, b.last_us) + $near_us
)
SELECT
    m.source_a,
    m.source_b,
    m.from_us,
    m.to_us,
    sum(CASE WHEN c.source = m.source_a THEN 1 ELSE 0 END) AS calls_a,
    sum(CASE WHEN c.source = m.source_b THEN 1 ELSE 0 END) AS calls_b
FROM meeting m
JOIN overlap_calls c
    ON (c.source = m.source_a OR c.source = m.source_b) AND c.start_us >= m.from_us AND c.start_us < m.to_us
GROUP BY m.source_a, m.source_b, m.from_us, m.to_us
