-- Puts the rows of latency_folded into latency_hour, where the same time was cleared before.
INSERT INTO latency_hour SELECT * FROM latency_folded;
DROP TABLE latency_folded
