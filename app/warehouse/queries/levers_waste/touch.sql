-- The thrown-away attempts of the accepted scopes.
CREATE OR REPLACE TEMP TABLE touch_waste AS
SELECT a.request_key, x.candidate
FROM waste_attempts a
JOIN waste_accepted x
  ON x.feature = a.feature AND x.template IS NOT DISTINCT FROM a.template AND x.provider = a.provider
 AND x.model_id = a.model_id
WHERE a.chained = 1
