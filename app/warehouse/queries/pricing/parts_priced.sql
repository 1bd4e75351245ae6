-- What did each separately billed part of a response cost?
-- Columns: request_key, part, model_id, six parts of its cost, cost_list_pusd, cost_pusd, price_row, cost_state.
SELECT
    u.of_request AS request_key, u.part, c.model_id, c.input_pusd, c.cache_read_pusd, c.cache_write_pusd, c.output_pusd,
    c.reasoning_pusd, c.other_pusd, c.cost_list_pusd, c.cost_pusd, c.price_row, c.cost_state
FROM {usage} AS u
JOIN {costs} AS c ON c.request_key = u.request_key
