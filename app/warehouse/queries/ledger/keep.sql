-- Keeps the figures that stand for the requests of {changed} under the $version that takes their place.
INSERT INTO cost_ledger (
    request_key, version, fullness, provider, model_id, input_pusd, cache_read_pusd, cache_write_pusd, output_pusd,
    reasoning_pusd, other_pusd, cost_list_pusd, cost_pusd, price_row, price_book, cost_state, warnings
)
SELECT
    request_key, $version, fullness, was_provider, was_model_id, was_input_pusd, was_cache_read_pusd,
    was_cache_write_pusd, was_output_pusd, was_reasoning_pusd, was_other_pusd, was_cost_list_pusd, was_cost_pusd,
    was_price_row, was_price_book, was_cost_state, was_warnings
FROM {changed}
