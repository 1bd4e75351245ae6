-- The requests of each scope in {scopes}(scope_id, feature, template, provider, model_id, rule_match) as the temporary
-- table layout_requests(request_key, scope_id, model_id, marked 0 or 1).
CREATE OR REPLACE TEMPORARY TABLE layout_requests AS
SELECT s.request_key AS request_key, c.scope_id AS scope_id, c.model_id AS model_id,
       CASE WHEN c.rule_match = 'breakpoint' THEN 1 ELSE 0 END AS marked
FROM layout_stream AS s
JOIN {scopes} AS c
  ON c.feature = s.feature AND c.provider = s.provider AND c.model_id = s.model_id
 AND c.template IS NOT DISTINCT FROM s.template
