-- Adds one lever's touched requests: the candidate's number stands in the lever's own digits of the code (`$base`).
INSERT INTO touches
SELECT t.request_key, (t.candidate + 1) * cast($base AS DECIMAL(38, 0)) FROM {touch} t
