-- Each example request that the plan touches as a cell of its own: (request_key, cell).
CREATE OR REPLACE TEMP TABLE evidence_of AS
SELECT p.request_key, row_number() OVER (ORDER BY p.request_key) AS cell
FROM profile_of p
WHERE p.request_key IN (SELECT request_key FROM evidence_wanted)
