-- Puts the figures of {changed} in the place of those that stand. All its requests start in [from_us, to_us), or have no
-- time where $undated.
UPDATE requests SET
    provider = c.provider,
    model_id = c.model_id,
    input_pusd = c.input_pusd,
    cache_read_pusd = c.cache_read_pusd,
    cache_write_pusd = c.cache_write_pusd,
    output_pusd = c.output_pusd,
    reasoning_pusd = c.reasoning_pusd,
    other_pusd = c.other_pusd,
    cost_list_pusd = c.cost_list_pusd,
    cost_pusd = c.cost_pusd,
    price_row = c.price_row,
    price_book = c.price_book,
    cost_state = c.cost_state,
    warnings = c.warnings
FROM {changed} AS c
WHERE requests.request_key = c.request_key
    AND ($undated OR (requests.start_us >= $from_us AND requests.start_us < $to_us))
