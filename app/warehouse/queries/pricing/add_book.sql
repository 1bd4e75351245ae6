-- Keeps that a price book was installed, once. Values: book, list_source, installed_us.
INSERT INTO price_books
SELECT $book, $list_source, $installed_us
WHERE NOT EXISTS (SELECT 1 FROM price_books WHERE book = $book)
