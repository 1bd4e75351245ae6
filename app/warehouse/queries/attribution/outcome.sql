-- How the pending requests were attributed: kind (tag, rule, template, none), requests.
SELECT kind, count(*) AS requests
FROM (
    SELECT CASE WHEN a.rule LIKE 'rule:%' THEN 'rule' ELSE a.rule END AS kind
    FROM attribution a
    JOIN pending p ON p.request_key = a.request_key
    WHERE a.version = $version
) kinds
GROUP BY kind
ORDER BY kind
