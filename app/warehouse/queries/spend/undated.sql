-- How many requests carry no time. One row.
SELECT count(*) AS undated FROM requests WHERE start_us IS NULL
