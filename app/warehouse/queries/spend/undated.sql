-- How many requests carry no time. One row.
SELECT count(*) AS undated FROM counted_requests WHERE start_us IS NULL
