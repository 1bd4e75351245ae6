-- One row a touched request: all its candidates in one code. Requests without a price are left out: no dollar to save.
CREATE OR REPLACE TEMP TABLE profile_of AS
SELECT s.request_key, p.code
FROM stream s
JOIN (SELECT request_key, sum(code) AS code FROM touches GROUP BY request_key) p ON p.request_key = s.request_key
WHERE s.cost_pusd IS NOT NULL
