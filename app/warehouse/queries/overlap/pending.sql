-- The first and last start of the new requests of `pending`: from_us, to_us; NULL where none has a time.
SELECT min(r.start_us) AS from_us, max(r.start_us) AS to_us
FROM pending p
JOIN requests r ON r.request_key = p.request_key
