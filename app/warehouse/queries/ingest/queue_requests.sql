-- Names the stored rows of incoming as new to attribution and roll-ups.
INSERT INTO unattributed (request_key, start_us) SELECT request_key, start_us FROM incoming
