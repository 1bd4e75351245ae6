-- The size of the stream: (requests, unpriced, cost_pusd, first_us, last_us, price_book).
SELECT
    count(*),
    count(*) - count(cost_pusd),
    sum(cast(cost_pusd AS DECIMAL(38, 0))),
    min(start_us),
    max(start_us),
    (SELECT max(price_book) FROM requests WHERE start_us >= $from_us AND start_us < $to_us)
FROM stream
