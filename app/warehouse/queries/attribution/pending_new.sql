-- The temporary table `pending`: requests that the version has not attributed.
CREATE OR REPLACE TEMP TABLE pending AS
SELECT r.request_key
FROM requests r
LEFT JOIN attribution a ON a.request_key = r.request_key AND a.version = $version
WHERE a.request_key IS NULL
