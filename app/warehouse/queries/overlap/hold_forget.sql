-- Forgets what was held out of [from_us, to_us).
DELETE FROM held_out WHERE start_us >= $from_us AND start_us < $to_us
