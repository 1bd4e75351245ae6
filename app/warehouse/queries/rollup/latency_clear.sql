-- Empties latency_hour for [from_us, to_us).
DELETE FROM latency_hour WHERE at_us >= $from_us AND at_us < $to_us
