-- The temporary table {into} in the layout that export.classes reads, empty.
CREATE OR REPLACE TEMP TABLE {into} AS
SELECT
    request_key, tok_input, tok_cache_read, tok_cache_write_5m, tok_cache_write_30m, tok_cache_write_1h,
    tok_cache_write_12h, tok_input_audio, tok_cache_read_audio, tok_input_image, tok_output, tok_reasoning,
    tok_output_audio, tok_output_image, units, input_pusd, cache_read_pusd, cache_write_pusd, output_pusd,
    reasoning_pusd, other_pusd, price_row, price_book
FROM requests
WHERE FALSE
