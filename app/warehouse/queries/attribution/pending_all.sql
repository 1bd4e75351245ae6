-- The temporary table `pending` (request_key, start_us): every request.
CREATE OR REPLACE TEMP TABLE pending AS SELECT request_key, start_us FROM requests
