-- Keeps the places in incoming_origins (with fullness, and sources: how many tell of the call now): one a source, that of its
-- fullest snapshot; of equally full ones the first stays. A call of one source alone has none.
DELETE FROM request_origins
WHERE EXISTS (
    SELECT 1 FROM incoming_origins AS i
    WHERE i.request_key = request_origins.request_key AND i.source = request_origins.source
        AND i.fullness > request_origins.fullness
);
INSERT INTO request_origins (request_key, source, source_record, origin_file, origin_line, fullness)
SELECT
    i.request_key,
    i.source,
    i.source_record,
    i.origin_file,
    i.origin_line,
    i.fullness
FROM incoming_origins AS i
WHERE NOT EXISTS (
    SELECT 1 FROM request_origins AS o
    WHERE o.request_key = i.request_key AND o.source = i.source
) AND (
    i.sources > 1
    OR i.request_key IN (SELECT o.request_key FROM request_origins AS o)
)
