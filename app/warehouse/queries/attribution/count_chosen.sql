-- How many templates `chosen` holds. One row.
SELECT count(*) AS templates FROM (SELECT DISTINCT grp, line_hash FROM chosen) named
