-- One row a scope with billed failures: how many were sent again, by how they ended, and what chance would chain.
SELECT
    feature, template, provider, model_id,
    count(*) AS failed,
    sum(chained) AS chained,
    sum(placebo) AS placebo,
    sum(CASE WHEN chained = 1 AND status = 'timeout' THEN 1 ELSE 0 END) AS timeouts,
    sum(CASE WHEN chained = 1 AND status = 'aborted' THEN 1 ELSE 0 END) AS aborted,
    sum(CASE WHEN chained = 1 AND status = 'error' THEN 1 ELSE 0 END) AS errors
FROM waste_attempts
GROUP BY feature, template, provider, model_id
HAVING sum(chained) > 0
ORDER BY feature, template, provider, model_id
