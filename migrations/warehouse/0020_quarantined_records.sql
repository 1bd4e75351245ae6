-- A hash of what could not be read, so that a record which a pull brings again is one place in the quarantine; NULL where it
-- was put there before, or is a file as a whole.
ALTER TABLE quarantine ADD COLUMN record_hash BIGINT;
