-- What lies in the quarantine, by place: source, file, path, line, byte_from, reason, head, seen_us.
SELECT source, file, path, line, byte_from, reason, head, seen_us FROM quarantine ORDER BY source, file, line
