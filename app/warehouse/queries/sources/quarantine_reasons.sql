-- Why records could not be read: source, reason, records. The commonest first.
SELECT source, reason, count(*) AS records
FROM quarantine
GROUP BY source, reason
ORDER BY records DESC, source, reason
LIMIT $most
