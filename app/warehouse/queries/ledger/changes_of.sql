-- What a version changed, by local day, model and reason: day, model_id, reason, requests, before_pusd, after_pusd.
SELECT
    day, model_id, reason,
    sum(requests) AS requests,
    sum(before_pusd) AS before_pusd,
    sum(after_pusd) AS after_pusd
FROM cost_changes
WHERE version = $version
GROUP BY day, model_id, reason
ORDER BY day NULLS FIRST, model_id, reason
