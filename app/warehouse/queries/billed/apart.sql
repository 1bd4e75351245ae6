-- What bills of days (at_us, noon UTC) in [from_us, to_us) charge for services that are no models, in no sum of Spend:
-- provider, cost_pusd (NULL without an exchange rate), the largest first. What another report repeats counts once.
SELECT provider, sum(cast(cost_pusd AS DECIMAL(38, 0))) AS cost_pusd
FROM bill_lines
WHERE kind = 'other' AND doubled_by IS NULL AND at_us >= $from_us AND at_us < $to_us
GROUP BY provider
ORDER BY 2 DESC NULLS LAST, 1
