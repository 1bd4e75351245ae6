-- Keeps who lent the rows of a merge what they did not know themselves.
INSERT INTO request_lent (request_key, field, fullness) SELECT request_key, field, fullness FROM incoming_lent
