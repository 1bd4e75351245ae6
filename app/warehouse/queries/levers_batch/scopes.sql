-- One row a scope that pays the real-time price: how much of it streams or waits for a turn, on how many local days.
SELECT
    s.feature, s.template, s.provider, s.model_id,
    count(*) AS requests,
    count(DISTINCT s.day) AS days,
    count(DISTINCT s.user_hash) AS users,
    sum(r.streamed) AS streamed,
    sum(r.stream_unknown) AS stream_unknown,
    sum(r.turn) AS turns,
    sum(cast(s.cost_pusd AS DECIMAL(38, 0))) AS cost_pusd
FROM batch_rows r
JOIN stream s ON s.request_key = r.request_key
GROUP BY s.feature, s.template, s.provider, s.model_id
ORDER BY s.feature, s.template, s.provider, s.model_id
