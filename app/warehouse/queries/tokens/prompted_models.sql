-- The models of requests since $from_us whose prompts have fingerprints: model_id.
SELECT DISTINCT model_id
FROM requests
WHERE prompt_bytes > 0 AND model_id IS NOT NULL AND start_us >= $from_us
ORDER BY model_id
