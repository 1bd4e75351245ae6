-- Example requests of one scope that could go through the batch tier, spread over the window.
SELECT request_key
FROM (
    SELECT request_key, start_us, row_number() OVER (ORDER BY start_us, request_key) AS place, count(*) OVER () AS n
    FROM batch_rows
    WHERE feature = $feature AND template IS NOT DISTINCT FROM $template AND provider = $provider
      AND model_id = $model_id AND streamed = 0 AND turn = 0
) r
WHERE (place - 1) % greatest(cast(floor(n / 20) AS BIGINT), 1) = 0
ORDER BY start_us
LIMIT 20
