-- One row a scope that pays the real-time price: how much of it streams or waits for a turn, on how many local days.
SELECT
    feature, template, provider, model_id,
    count(*) AS requests,
    count(DISTINCT day) AS days,
    count(DISTINCT user_hash) AS users,
    sum(streamed) AS streamed,
    sum(stream_unknown) AS stream_unknown,
    sum(turn) AS turns,
    sum(cast(cost_pusd AS DECIMAL(38, 0))) AS cost_pusd
FROM batch_rows
GROUP BY feature, template, provider, model_id
ORDER BY feature, template, provider, model_id
