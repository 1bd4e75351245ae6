-- Lines of bills whose day (at_us, noon UTC) lies in [from_us, to_us): at_us, source, report, provider, account, model_id,
-- class, kind, currency, quantity, requests, cost, cost_pusd, value_pusd, has_cost, doubled_by.
SELECT
    at_us, source, report, provider, account, model_id, class, kind, currency,
    sum(quantity) AS quantity,
    sum(requests) AS requests,
    sum(cost) AS cost,
    sum(cast(cost_pusd AS DECIMAL(38, 0))) AS cost_pusd,
    sum(cast(value_pusd AS DECIMAL(38, 0))) AS value_pusd,
    has_cost, doubled_by
FROM bill_lines
WHERE at_us >= $from_us AND at_us < $to_us
GROUP BY at_us, source, report, provider, account, model_id, class, kind, currency, has_cost, doubled_by
ORDER BY at_us, source, report, provider, account, model_id, class, kind, currency, has_cost, doubled_by
