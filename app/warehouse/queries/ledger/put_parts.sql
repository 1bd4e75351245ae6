-- Puts the figures of {parts} in the place of those that stand.
UPDATE request_parts SET model_id = c.model_id, cost_pusd = c.cost_pusd, price_row = c.price_row
FROM {parts} AS c
WHERE request_parts.request_key = c.request_key AND request_parts.part = c.part
