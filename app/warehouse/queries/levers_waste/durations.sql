-- How long answers and given-up attempts of one scope take, in microseconds: (ok_p95, given_up_max).
SELECT quantile_disc(ok_us, 0.95) AS ok_p95, max(given_up_us) AS given_up_max
FROM (
    SELECT CASE WHEN status = 'ok' THEN end_us - start_us END AS ok_us,
           CASE WHEN status IN ('timeout', 'aborted') THEN end_us - start_us END AS given_up_us
    FROM stream
    WHERE calls_summed IS NULL AND feature = $feature AND template IS NOT DISTINCT FROM $template AND provider = $provider
      AND model_id = $model_id
) t
