-- The books by whose own terms requests of {requests} cost other than at list: price_book, by_account (whether its names
-- were resolved account by account).
SELECT
    b.price_book,
    (SELECT count(*) FROM price_alias AS a WHERE a.book = b.price_book AND a.account <> '') > 0 AS by_account
FROM (
    SELECT DISTINCT price_book
    FROM {requests}
    WHERE cost_list_pusd <> cost_pusd AND price_book IS NOT NULL
) AS b
ORDER BY b.price_book
