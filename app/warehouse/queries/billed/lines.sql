-- Lines of bills whose day (at_us, noon UTC) lies in [from_us, to_us), in no order: at_us, last_us (of the last day that
-- they are about), source, report, provider, account, model_id, class, kind, service_tier, is_batch, currency, quantity,
-- unconverted (native cost without an exchange rate), cost_pusd, value_pusd, has_cost, doubled_by, cost_elsewhere, is_gone,
-- unlike (a source that says the day too and nothing alike).
SELECT
    at_us, coalesce(last_us, at_us) AS last_us, source, report, provider, account, model_id, class, kind, service_tier,
    is_batch, currency, cast(round(quantity) AS BIGINT) AS quantity, CASE WHEN cost_pusd IS NULL THEN cost END AS unconverted,
    cost_pusd, value_pusd, has_cost, doubled_by, cost_elsewhere, coalesce(is_gone, false) AS is_gone, unlike
FROM bill_lines
WHERE at_us >= $from_us AND at_us < $to_us
