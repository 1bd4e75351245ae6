-- Example attempts of one scope that were paid and thrown away.
SELECT request_key
FROM waste_attempts
WHERE feature = $feature AND template IS NOT DISTINCT FROM $template AND provider = $provider
  AND model_id = $model_id AND chained = 1
ORDER BY cost_pusd DESC, request_key
LIMIT 20
