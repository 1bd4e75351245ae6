-- For how many of the models in {scopes}(model_id) another way than the share of bytes was measured to place tokens better.
-- Returns (models).
SELECT count(*) AS models
FROM token_fits
WHERE method <> 'bytes' AND model_id IN (SELECT model_id FROM {scopes})
