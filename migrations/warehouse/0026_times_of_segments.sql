-- Segments carry the time of their request, also where a fuller snapshot that brought no prompt changed it before rows
-- were joined by one law: prompts of new requests are looked for in their own stretch of time.
UPDATE segments SET start_us = r.start_us
FROM requests AS r
WHERE r.request_key = segments.request_key AND segments.start_us IS DISTINCT FROM r.start_us;
