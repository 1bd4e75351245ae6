-- The price books that priced requests, the most used first: price_book, requests.
SELECT price_book, count(*) AS requests
FROM requests
WHERE price_book IS NOT NULL
GROUP BY price_book
ORDER BY requests DESC, price_book DESC
