-- Scheduled bursts: for each scope and period (5 minutes to 6 hours) the Rayleigh statistic of its burst starts.
-- A burst starts after a gap of more than a minute. p = exp(-n R^2), times seven periods (Bonferroni).
-- `densest` is the share of starts in the fullest tenth of the cycle: a human day is smooth inside a cycle of hours.
WITH starts AS (
    SELECT feature, template, provider, model_id, start_us / 1000000.0 AS at_s
    FROM (
        SELECT s.feature, s.template, s.provider, s.model_id, s.start_us,
               s.start_us - lag(s.start_us, 1, cast(0 AS BIGINT)) OVER (
                   PARTITION BY s.feature, s.template, s.provider, s.model_id ORDER BY s.start_us, s.request_key
               ) AS gap_us
        FROM batch_rows r
        JOIN stream s ON s.request_key = r.request_key
    ) g
    WHERE gap_us > 60000000
),
phases AS (
    SELECT s.*, p.period_s,
           cast(floor(10 * ((s.at_s / p.period_s) - floor(s.at_s / p.period_s))) AS INTEGER) AS tenth
    FROM starts s
    CROSS JOIN (
        SELECT 300 AS period_s UNION ALL SELECT 600 UNION ALL SELECT 900 UNION ALL SELECT 1800 UNION ALL SELECT 3600
        UNION ALL SELECT 7200 UNION ALL SELECT 21600
    ) p
),
tenths AS (
    SELECT feature, template, provider, model_id, period_s, tenth, count(*) AS n,
           sum(cos(2 * pi() * at_s / period_s)) AS c, sum(sin(2 * pi() * at_s / period_s)) AS s
    FROM phases
    GROUP BY feature, template, provider, model_id, period_s, tenth
),
cycles AS (
    SELECT feature, template, provider, model_id, period_s, sum(n) AS bursts, sum(c) AS c, sum(s) AS s,
           max(n) * 1.0 / sum(n) AS densest
    FROM tenths
    GROUP BY feature, template, provider, model_id, period_s
)
SELECT feature, template, provider, model_id, period_s, cast(bursts AS BIGINT) AS bursts,
       sqrt(c * c + s * s) / bursts AS r,
       least(1.0, 7 * exp(-(c * c + s * s) / bursts)) AS p_value,
       densest
FROM cycles
WHERE bursts >= 8
ORDER BY feature, template, provider, model_id, period_s
