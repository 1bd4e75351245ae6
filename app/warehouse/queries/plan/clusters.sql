-- How many clusters (local day x template) and local days the stream has: (clusters, first_day, last_day).
SELECT count(*), min(day), max(day)
FROM (SELECT DISTINCT feature, template, day FROM stream) c
