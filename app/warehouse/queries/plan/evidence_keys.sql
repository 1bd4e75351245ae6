-- The example requests by cell: (cell, request_key, start_us).
SELECT e.cell, e.request_key, s.start_us
FROM evidence_of e
JOIN stream s ON s.request_key = e.request_key
ORDER BY e.cell
