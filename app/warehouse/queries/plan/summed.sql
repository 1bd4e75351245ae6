-- How many rows of the stream sum several calls, which no lever can act on one by one: (requests).
SELECT count(*) AS requests FROM stream WHERE calls_summed IS NOT NULL
