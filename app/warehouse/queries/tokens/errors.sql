-- How far off token positions are: model_id, checked, method, places, median_error, p95_error, bias.
SELECT model_id, checked, method, places, median_error, p95_error, bias
FROM token_errors
ORDER BY model_id, checked, method
