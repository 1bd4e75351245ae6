-- How many requests {facts} holds in [from_us, to_us). One row.
SELECT count(*) AS requests FROM {facts} WHERE at_us >= $from_us AND at_us < $to_us
