-- Stores the errors in {errors}, whose columns are those of token_errors.
INSERT INTO token_errors (model_id, checked, method, places, median_error, p95_error, bias)
SELECT model_id, checked, method, places, median_error, p95_error, bias
FROM {errors}
