-- One page of LiteLLM's spend log: start, id and the row as JSON, in the order of (start, id), after the place
-- (at, id) and up to `until`. The first condition lets the index on the start find the place.
SELECT s."startTime", s.request_id, to_jsonb(s)::text
FROM {table} AS s
WHERE s."startTime" >= %(at)s
  AND (s."startTime" > %(at)s OR s.request_id > %(id)s)
  AND s."startTime" <= %(until)s
ORDER BY s."startTime", s.request_id
LIMIT %(rows)s
