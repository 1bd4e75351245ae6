-- What bills of days (at_us, noon UTC) in [from_us, to_us) charge for models in a currency without an exchange rate, in no
-- sum of dollars: currency, cost in that currency, by currency. What another report repeats counts once.
SELECT currency, sum(cast(cost AS DECIMAL(38, 12))) AS cost
FROM bill_lines
WHERE has_cost AND cost_pusd IS NULL AND kind <> 'other' AND doubled_by IS NULL AND NOT coalesce(is_gone, false)
    AND at_us >= $from_us AND at_us < $to_us
GROUP BY currency
ORDER BY currency
