-- Example requests of one scope that could go through the batch tier, spread over the window.
SELECT request_key
FROM (
    SELECT s.request_key, s.start_us, row_number() OVER (ORDER BY s.start_us, s.request_key) AS place,
           count(*) OVER () AS n
    FROM batch_rows b
    JOIN stream s ON s.request_key = b.request_key
    WHERE s.feature = $feature AND s.template IS NOT DISTINCT FROM $template AND s.provider = $provider
      AND s.model_id = $model_id AND b.streamed = 0 AND b.turn = 0
) r
WHERE (place - 1) % greatest(cast(floor(n / 20) AS BIGINT), 1) = 0
ORDER BY start_us
LIMIT 20
