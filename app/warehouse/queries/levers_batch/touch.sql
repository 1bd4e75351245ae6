-- The requests of the accepted scopes that nobody waits for.
CREATE OR REPLACE TEMP TABLE touch_batch AS
SELECT r.request_key, x.candidate
FROM batch_rows r
JOIN stream s ON s.request_key = r.request_key
JOIN batch_accepted x
  ON x.feature = s.feature AND x.template IS NOT DISTINCT FROM s.template AND x.provider = s.provider
 AND x.model_id = s.model_id
WHERE r.streamed = 0 AND r.turn = 0
