-- Adds the places of calls that several sources told of (relation incoming_origins), one a source; known ones stay.
INSERT INTO request_origins (request_key, source, source_record, origin_file, origin_line)
SELECT
    i.request_key,
    i.source,
    i.source_record,
    i.origin_file,
    i.origin_line
FROM incoming_origins AS i
WHERE NOT EXISTS (
    SELECT 1 FROM request_origins AS o
    WHERE o.request_key = i.request_key AND o.source = i.source
)
