-- Keys that more than one row has; the merge keeps this at 0. Columns: doubled.
SELECT count(*) AS doubled
FROM (SELECT request_key FROM requests GROUP BY request_key HAVING count(*) > 1) AS d
