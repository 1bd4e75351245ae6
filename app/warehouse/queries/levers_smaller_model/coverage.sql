-- How many requests could be judged, and how many use a model whose abilities are not known:
-- (requests, without_options).
SELECT count(*), sum(CASE WHEN o.model_id IS NULL THEN 1 ELSE 0 END)
FROM routing_needs n
JOIN stream s ON s.request_key = n.request_key
LEFT JOIN (SELECT DISTINCT provider, model_id FROM model_options) o
  ON o.provider = s.provider AND o.model_id = s.model_id
