-- The temporary table `pending`: every request.
CREATE OR REPLACE TEMP TABLE pending AS SELECT request_key FROM requests
