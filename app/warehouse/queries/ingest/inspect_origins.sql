-- Where calls were read that several sources told of: request_key, source, source_record, origin_file, origin_line.
SELECT request_key, source, source_record, origin_file, origin_line
FROM request_origins
ORDER BY request_key, source
