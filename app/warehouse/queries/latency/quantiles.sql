-- By {column} of {bins} (columns of latency_hour) and metric over [from_us, to_us): name, metric, n, and the bins in which
-- the p50, p95 and p99 stand.
WITH bins AS (
    SELECT {column} AS name, metric, bin, sum(n) AS n
    FROM {bins}
    WHERE at_us >= $from_us AND at_us < $to_us
    GROUP BY {column}, metric, bin
),
running AS (
    SELECT
        name, metric, bin,
        sum(n) OVER (PARTITION BY name, metric ORDER BY bin) AS upto,
        sum(n) OVER (PARTITION BY name, metric) AS n
    FROM bins
)
SELECT
    name, metric, max(n) AS n,
    min(CASE WHEN upto >= 0.5 * n THEN bin END) AS p50,
    min(CASE WHEN upto >= 0.95 * n THEN bin END) AS p95,
    min(CASE WHEN upto >= 0.99 * n THEN bin END) AS p99
FROM running
GROUP BY name, metric
ORDER BY name, metric
