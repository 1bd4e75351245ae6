-- How many clusters (local day x template) and local days the stream has: (clusters, first_day, last_day, active_days).
SELECT count(*), min(day), max(day), count(DISTINCT day)
FROM (SELECT DISTINCT feature, template, day FROM stream) c
