-- The temporary table `spend_standing`: the rows of spend_hour in [from_us, to_us) as they stand, so that they can be summed
-- again, by spend_fill, once newer rows stand beside them.
CREATE OR REPLACE TEMP TABLE spend_standing AS
SELECT * FROM spend_hour WHERE at_us >= $from_us AND at_us < $to_us
