-- Puts the rows of spend_folded into spend_hour, where the same time was cleared before.
INSERT INTO spend_hour SELECT * FROM spend_folded;
DROP TABLE spend_folded
