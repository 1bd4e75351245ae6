-- Requests with a price and their cost by {column} and model in [from_us, to_us): name, model, requests, cost_pusd.
SELECT
    {column} AS name,
    model_id AS model,
    sum(requests) AS requests,
    sum(cast(cost_pusd AS DECIMAL(38, 0))) AS cost_pusd
FROM {facts}
WHERE at_us >= $from_us AND at_us < $to_us AND cost_pusd IS NOT NULL
GROUP BY {column}, model_id
ORDER BY name, model
