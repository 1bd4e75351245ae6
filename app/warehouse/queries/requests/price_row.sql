-- The row of a price book by its name: every column of price_rates.
SELECT * FROM price_rates WHERE book = $book AND price_row = $price_row ORDER BY rate_key, valid_from_us LIMIT 1
