-- Takes the records of incoming_again (source, path) out of the quarantine: they are fetched again.
DELETE FROM quarantine
WHERE EXISTS (SELECT 1 FROM incoming_again AS n WHERE n.source = quarantine.source AND n.path = quarantine.path)
