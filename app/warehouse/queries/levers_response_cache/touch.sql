-- The requests that the accepted candidates would have served from their cache.
CREATE OR REPLACE TEMP TABLE touch_response_cache AS
SELECT request_key, candidate FROM response_cache_hits
