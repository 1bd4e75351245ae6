-- Keeps rate rows (columns of price_rates without book) under a book; keys already there stay as they are.
INSERT INTO price_rates
SELECT
    $book, n.rate_key, n.price_row, n.provider, n.price_model, n.ctx, n.valid_from_us, n.valid_to_us, n.minute_from,
    n.minute_to, n.weekday_from, n.weekday_to, n.tier_gt, n.tier_le, n.r_input, n.r_cache_read, n.r_cache_write_5m,
    n.r_cache_write_30m, n.r_cache_write_1h, n.r_cache_write_12h, n.r_input_audio, n.r_cache_read_audio,
    n.r_input_image, n.r_output, n.r_reasoning, n.r_output_audio, n.r_output_image, n.r_web_search,
    n.r_storage_search, n.r_code_execution, n.r_rerank, n.r_second, n.r_page, n.r_character, n.r_image, n.r_request,
    n.source, n.status, n.r_cache_storage
FROM {rates} AS n
WHERE n.rate_key NOT IN (SELECT rate_key FROM price_rates WHERE book = $book)
