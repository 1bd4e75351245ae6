-- The temporary table `pending` (request_key, start_us): the stored requests that are named as new. They are looked for
-- in their own stretch of time.
CREATE OR REPLACE TEMP TABLE pending AS
SELECT DISTINCT r.request_key, r.start_us
FROM requests r
JOIN unattributed u ON u.request_key = r.request_key AND u.start_us IS NOT DISTINCT FROM r.start_us
