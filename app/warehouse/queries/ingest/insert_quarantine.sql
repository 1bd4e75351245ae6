-- Puts what could not be read into the quarantine; a place that is there already is noted anew.
DELETE FROM quarantine
WHERE EXISTS (
    SELECT 1 FROM incoming_rejects AS n
    WHERE n.source = quarantine.source AND n.file = quarantine.file AND n.line = quarantine.line
);
INSERT INTO quarantine (source, file, line, byte_from, reason, head, seen_us)
SELECT source, file, line, byte_from, reason, head, $seen_us FROM incoming_rejects
