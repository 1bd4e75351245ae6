-- Puts what could not be read into the quarantine. Places that are there already, and places that were read again
-- (quarantine_places), are removed first: what is still wrong comes in anew.
DELETE FROM quarantine
WHERE EXISTS (
    SELECT 1 FROM quarantine_places AS n
    WHERE n.source = quarantine.source AND n.path = quarantine.path AND n.line = quarantine.line
);
INSERT INTO quarantine (source, file, path, line, byte_from, reason, head, seen_us)
SELECT source, file, path, line, byte_from, reason, head, $seen_us FROM incoming_rejects
