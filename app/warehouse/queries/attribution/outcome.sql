-- How the pending requests were attributed: kind (tag, rule, template, none), requests.
SELECT kind, count(*) AS requests
FROM (
    SELECT CASE WHEN rule LIKE 'rule:%' THEN 'rule' ELSE rule END AS kind FROM pending_attribution
) kinds
GROUP BY kind
ORDER BY kind
