-- The requests of the accepted scopes that nobody waits for.
CREATE OR REPLACE TEMP TABLE touch_batch AS
SELECT r.request_key, x.candidate
FROM batch_rows r
JOIN batch_accepted x
  ON x.feature = r.feature AND x.template IS NOT DISTINCT FROM r.template AND x.provider = r.provider
 AND x.model_id = r.model_id
WHERE r.streamed = 0 AND r.turn = 0
