-- The requests of the accepted scopes that pass every gate of the target model.
CREATE OR REPLACE TEMP TABLE touch_smaller_model AS
SELECT n.request_key, x.candidate
FROM routing_needs n
JOIN stream s ON s.request_key = n.request_key
JOIN smaller_model_accepted x
  ON x.feature = s.feature AND x.template IS NOT DISTINCT FROM s.template AND x.provider = s.provider
 AND x.model_id = s.model_id
WHERE (n.prompt_tokens + n.answer_tokens) * x.token_ratio <= x.context_window
  AND n.answer_tokens * x.token_ratio <= x.max_output
  AND (n.tools = 0 OR x.tools) AND (n.images = 0 OR x.vision) AND (n.schema_output = 0 OR x.json_schema)
