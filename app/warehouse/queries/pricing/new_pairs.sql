-- Which distinct (provider, model, price context) of a relation has this book not resolved yet?
-- Columns: provider, model, service_tier, is_batch, region, price_context, account ('' for NULL).
WITH pairs AS (
    SELECT DISTINCT
        coalesce(provider, '') AS provider,
        coalesce(model, '') AS model,
        coalesce(service_tier, '') AS service_tier,
        is_batch,
        coalesce(region, '') AS region,
        coalesce(price_context, '') AS price_context,
        CASE WHEN $by_account THEN coalesce(account, '') ELSE '' END AS account
    FROM {requests}
)
SELECT p.provider, p.model, p.service_tier, p.is_batch, p.region, p.price_context, p.account
FROM pairs AS p
LEFT JOIN price_alias AS a
    ON a.book = $book
    AND a.provider = p.provider
    AND a.model = p.model
    AND a.service_tier = p.service_tier
    AND a.is_batch = p.is_batch
    AND a.region = p.region
    AND a.price_context = p.price_context
    AND a.account = p.account
WHERE a.book IS NULL
ORDER BY 1, 2, 3, 4, 5, 6, 7
