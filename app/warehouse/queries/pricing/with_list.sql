-- Requests priced at own terms, with the list price of the same requests beside it.
-- Columns: those of pricing.priced.
SELECT
    p.request_key, p.provider_id, p.model_id, p.input_pusd, p.cache_read_pusd, p.cache_write_pusd, p.output_pusd,
    p.reasoning_pusd, p.other_pusd, l.cost_pusd AS cost_list_pusd, p.cost_pusd, p.price_row, p.price_book,
    p.cost_state, p.price_warning
FROM {own} AS p
JOIN {listed} AS l ON l.request_key = p.request_key
