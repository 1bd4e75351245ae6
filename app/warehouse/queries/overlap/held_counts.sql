-- How many requests are held out, by source and the source that counts instead: source, counted_source, requests.
SELECT source, counted_source, count(*) AS requests FROM held_out GROUP BY source, counted_source ORDER BY 1, 2
