-- The source that counts instead of a held-out request: counted_source; no row where the request counts itself.
SELECT counted_source FROM held_out WHERE request_key = $request_key
