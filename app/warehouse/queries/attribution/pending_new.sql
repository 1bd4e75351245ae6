-- The temporary table `pending` (request_key, start_us): requests that the version has not attributed, by comparing all
-- of them.
CREATE OR REPLACE TEMP TABLE pending AS
SELECT r.request_key, r.start_us
FROM requests r
LEFT JOIN attribution a ON a.request_key = r.request_key AND a.version = $version
WHERE a.request_key IS NULL
