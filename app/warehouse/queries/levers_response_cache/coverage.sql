-- How much of the stream carries an exact key, and how often its kinds occur. Returns (requests, with_key, repeated).
SELECT count(*), count(exact_key), (SELECT count(*) FROM repeats WHERE place > 1) FROM stream
