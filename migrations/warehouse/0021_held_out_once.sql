-- The same views, with the held-out keys as one list: asked row by row they made every sum build a table of all requests.

CREATE OR REPLACE VIEW counted_requests AS
SELECT * FROM requests r
WHERE r.request_key NOT IN (SELECT request_key FROM held_out);

CREATE OR REPLACE VIEW request_facts AS
SELECT * FROM told_facts t
WHERE t.request_key NOT IN (SELECT request_key FROM held_out);
