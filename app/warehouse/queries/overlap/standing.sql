-- What the last comparison found, by pair: source_a, source_b, from_us, to_us, calls_a, calls_b, twins, chance.
SELECT source_a, source_b, from_us, to_us, calls_a, calls_b, twins, chance
FROM source_overlaps
ORDER BY source_a, source_b
