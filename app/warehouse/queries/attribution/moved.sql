-- What re-applying moved between the version before $version and it: from_feature, to_feature, requests, cost_pusd.
SELECT o.feature AS from_feature, n.feature AS to_feature, count(*) AS requests,
    sum(cast(r.cost_pusd AS DECIMAL(38, 0))) AS cost_pusd
FROM attribution n
JOIN attribution o ON o.request_key = n.request_key AND o.version = $version - 1
JOIN requests r ON r.request_key = n.request_key
WHERE n.version = $version AND n.feature <> o.feature
GROUP BY o.feature, n.feature
ORDER BY cost_pusd DESC NULLS LAST, requests DESC, from_feature, to_feature
