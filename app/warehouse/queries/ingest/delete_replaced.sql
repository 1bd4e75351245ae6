-- Removes the rows that a fuller snapshot replaces, their attribution (tags may have come), and their segments where it
-- brings a prompt of its own.
DELETE FROM requests WHERE request_key IN (SELECT request_key FROM replaced);
DELETE FROM attribution WHERE request_key IN (SELECT request_key FROM replaced);
DELETE FROM request_lent WHERE request_key IN (SELECT request_key FROM replaced);
DELETE FROM request_parts WHERE request_key IN (SELECT request_key FROM replaced);
DELETE FROM segments WHERE request_key IN (SELECT request_key FROM replaced WHERE brings_prompt)
