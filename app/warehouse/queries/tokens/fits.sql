-- What the last analysis fitted, per model: model_id, prompts, method (NULL where too few prompts are measured).
SELECT model_id, prompts, method FROM token_fits ORDER BY prompts DESC, model_id
