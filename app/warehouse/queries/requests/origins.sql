-- The sources that told of one call, where more than one did: source, source_record, origin_file, origin_line.
SELECT source, source_record, origin_file, origin_line
FROM request_origins
WHERE request_key = $request_key
ORDER BY source
