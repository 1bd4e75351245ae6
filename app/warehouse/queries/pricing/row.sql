-- The rates behind a price row: everything a page needs to say "why this cost". Values: book, price_row.
-- Columns: those of price_rates.
SELECT *
FROM price_rates
WHERE book = $book AND price_row = $price_row
