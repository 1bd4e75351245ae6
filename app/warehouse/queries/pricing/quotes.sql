-- Quotes in the order they were asked for. Columns: request_key, cost_pusd, price_row, cost_state, price_warning.
SELECT request_key, cost_pusd, price_row, cost_state, price_warning
FROM {quotes}
ORDER BY request_key
