-- Puts what could not be read into the quarantine. Removed first are places that were read now (quarantine_ranges: lines
-- after line_from up to line_to of a path), where what is still wrong comes in anew, and records that came before under
-- the same name by another way: a pull that overlaps the one before brings them again.
DELETE FROM quarantine
WHERE EXISTS (
    SELECT 1 FROM quarantine_ranges AS n
    WHERE n.path = quarantine.path AND quarantine.line > n.line_from AND quarantine.line <= n.line_to
);
DELETE FROM quarantine
WHERE EXISTS (
    SELECT 1 FROM incoming_rejects AS n
    WHERE n.source = quarantine.source AND n.file = quarantine.file AND n.record_hash = quarantine.record_hash
        AND n.path <> quarantine.path
);
INSERT INTO quarantine (source, file, path, line, byte_from, reason, head, seen_us, record_hash)
SELECT source, file, path, line, byte_from, reason, head, $seen_us, record_hash FROM incoming_rejects
