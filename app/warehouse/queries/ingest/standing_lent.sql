-- Which fields of the stored rows in incoming_keys were lent by a less full snapshot, and how full that one was:
-- request_key, field, fullness.
SELECT request_key, field, fullness FROM request_lent WHERE request_key IN (SELECT request_key FROM incoming_keys)
