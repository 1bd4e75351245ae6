-- Why requests in [from_us, to_us) have no whole price, by model as in spend.unpriced:
-- provider, model, cost_state, reason (see app.analysis.missing_prices), requests.
SELECT
    coalesce(provider, 'unassigned') AS provider,
    coalesce(model_id, model, 'unassigned') AS model,
    cost_state,
    CASE
        WHEN cost_state = 'unknown' THEN CASE WHEN warnings LIKE '%bad_number:%' THEN 'bad_number' ELSE 'no_usage' END
        WHEN coalesce(model_id, model) IS NULL THEN 'no_model'
        WHEN cost_state = 'partly' THEN 'class_without_price'
        WHEN concat(' ', warnings, ' ') LIKE '% impossible_tokens %' THEN 'impossible_tokens'
        WHEN concat(' ', warnings, ' ') LIKE '% unknown_model %' THEN 'unknown_model'
        WHEN concat(' ', warnings, ' ') LIKE '% no_time %' THEN 'no_time'
        WHEN concat(' ', warnings, ' ') LIKE '% no_prompt_tokens %' THEN 'no_prompt_tokens'
        ELSE 'no_price'
    END AS reason,
    cast(sum(CASE WHEN calls_summed > 1 THEN calls_summed ELSE 1 END) AS BIGINT) AS requests
FROM counted_requests
WHERE cost_state IN ('partly', 'unpriced', 'unknown')
    AND coalesce(start_us, 0) >= $from_us AND coalesce(start_us, 0) < $to_us
GROUP BY 1, 2, 3, 4
ORDER BY 5 DESC, 4
