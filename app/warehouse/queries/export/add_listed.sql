-- Adds to {into} what the requests of {requests} cost at list, part by part ({priced}: pricing.priced without own terms);
-- what their list price holds beyond that (a fee that the provider charged) stands in other_pusd.
INSERT INTO {into}
SELECT
    r.request_key, r.tok_input, r.tok_cache_read, r.tok_cache_write_5m, r.tok_cache_write_30m, r.tok_cache_write_1h,
    r.tok_cache_write_12h, r.tok_input_audio, r.tok_cache_read_audio, r.tok_input_image, r.tok_output, r.tok_reasoning,
    r.tok_output_audio, r.tok_output_image, r.units, p.input_pusd, p.cache_read_pusd, p.cache_write_pusd, p.output_pusd,
    p.reasoning_pusd,
    r.cost_list_pusd - coalesce(p.input_pusd, 0) - coalesce(p.cache_read_pusd, 0) - coalesce(p.cache_write_pusd, 0)
        - coalesce(p.output_pusd, 0) - coalesce(p.reasoning_pusd, 0) AS other_pusd,
    p.price_row, p.price_book
FROM {requests} AS r
INNER JOIN {priced} AS p ON p.request_key = r.request_key
