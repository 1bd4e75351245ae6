-- Which of the keys in incoming_keys stand: request_key. The columns of a row are read only where there is one
-- (ingest.standing): keys are hashes, so whoever looks for them reads every page of whatever columns it asks for.
SELECT request_key FROM requests WHERE request_key IN (SELECT request_key FROM incoming_keys)
