-- The newest records that could not be read: source, file, line, reason, the redacted head, seen_us.
SELECT source, file, line, reason, head, seen_us
FROM quarantine
ORDER BY seen_us DESC, source, file, line
LIMIT $most
