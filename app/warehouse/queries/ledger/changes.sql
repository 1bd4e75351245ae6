-- What {changed} changes of what counts, by the quarter hour (in which no zone changes its day), model and reason: at_us
-- (NULL: without a time), model_id, reason, requests, before_pusd, after_pusd (NULL where none of them has a cost).
SELECT
    start_us - start_us % 900000000 AS at_us,
    model_id,
    reason,
    count(*) AS requests,
    sum(cast(was_cost_pusd AS DECIMAL(38, 0))) AS before_pusd,
    sum(cast(cost_pusd AS DECIMAL(38, 0))) AS after_pusd
FROM {changed}
WHERE counted
GROUP BY start_us - start_us % 900000000, model_id, reason
