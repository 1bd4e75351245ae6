-- Cost, duration and time to first token over {facts} in [from_us, to_us): requests, cost mean, p50, p95, max,
-- duration p50, p95, ttft p50, p95. Quantiles are values that occur; NULL where no request knows the value. One row.
WITH rows_in AS (
    SELECT cost_pusd, end_us - last_us AS duration_us, first_token_us - last_us AS ttft_us
    FROM {facts}
    WHERE at_us >= $from_us AND at_us < $to_us
)
SELECT
    count(*) AS requests,
    floor(sum(cast(cost_pusd AS DECIMAL(38, 0))) / count(cost_pusd)) AS cost_mean,
    quantile_disc(cost_pusd, 0.5) AS cost_p50,
    quantile_disc(cost_pusd, 0.95) AS cost_p95,
    max(cost_pusd) AS cost_max,
    quantile_disc(duration_us, 0.5) AS duration_p50,
    quantile_disc(duration_us, 0.95) AS duration_p95,
    quantile_disc(ttft_us, 0.5) AS ttft_p50,
    quantile_disc(ttft_us, 0.95) AS ttft_p95
FROM rows_in
