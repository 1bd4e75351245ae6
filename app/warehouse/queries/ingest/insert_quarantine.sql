-- Puts what could not be read into the quarantine. Places that were read now (quarantine_ranges: lines after line_from
-- up to line_to of a path) are removed first: what is still wrong comes in anew.
DELETE FROM quarantine
WHERE EXISTS (
    SELECT 1 FROM quarantine_ranges AS n
    WHERE n.path = quarantine.path AND quarantine.line > n.line_from AND quarantine.line <= n.line_to
);
INSERT INTO quarantine (source, file, path, line, byte_from, reason, head, seen_us)
SELECT source, file, path, line, byte_from, reason, head, $seen_us FROM incoming_rejects
