-- Example requests of one scope that pass the gates, spread over the window.
SELECT request_key
FROM (
    SELECT s.request_key, s.start_us, row_number() OVER (ORDER BY s.start_us, s.request_key) AS place,
           count(*) OVER () AS n
    FROM routing_needs r
    JOIN stream s ON s.request_key = r.request_key
    WHERE s.feature = $feature AND s.template IS NOT DISTINCT FROM $template AND s.provider = $provider
      AND s.model_id = $model_id
      AND (r.prompt_tokens + answer_tokens) * $token_ratio <= $context_window
      AND answer_tokens * $token_ratio <= $max_output
      AND (tools = 0 OR $tools) AND (images = 0 OR $vision) AND (schema_output = 0 OR $json_schema)
) r
WHERE (place - 1) % greatest(cast(floor(n / 20) AS BIGINT), 1) = 0
ORDER BY start_us
LIMIT 20
