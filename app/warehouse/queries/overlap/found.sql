-- Every pair of overlap_pairs: source_a, source_b, from_us, to_us, calls_a, calls_b.
SELECT source_a, source_b, from_us, to_us, calls_a, calls_b FROM overlap_pairs ORDER BY source_a, source_b
