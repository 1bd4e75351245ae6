-- The temporary table {into}: the requests of {requests} that a book's own terms priced other than at list.
CREATE OR REPLACE TEMP TABLE {into} AS
SELECT * FROM {requests} WHERE cost_list_pusd <> cost_pusd AND price_book = $book
