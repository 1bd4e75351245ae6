-- What bills of days (at_us, noon UTC) in [from_us, to_us) charge as fixed fees (seats, capacity, support), of counting
-- lines: provider, account ('' where the bill names none), cost_pusd (NULL without an exchange rate).
SELECT provider, coalesce(account, '') AS account, sum(cast(cost_pusd AS DECIMAL(38, 0))) AS cost_pusd
FROM bill_lines
WHERE kind = 'fee' AND doubled_by IS NULL AND at_us >= $from_us AND at_us < $to_us
GROUP BY provider, coalesce(account, '')
ORDER BY provider, coalesce(account, '')
