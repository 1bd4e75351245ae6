-- Keeps resolved pairs (columns of price_alias without book) under a book.
INSERT INTO price_alias
SELECT
    $book, provider, model, service_tier, is_batch, region, price_context, account, provider_id, model_id,
    price_provider, price_model, ctx, rate_key, list_key, own, rule, any_us, any_prompt
FROM {aliases}
