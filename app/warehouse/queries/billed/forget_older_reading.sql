-- Forgets what earlier readings of the files of incoming_billed said: all of a file that was written anew and is read from
-- its start, the days of a page that was, and the same part of the same file that another task reads again.
DELETE FROM billed
WHERE (
    page = 0
    AND (source, path) IN (SELECT source, path FROM incoming_billed WHERE byte_from = 0 AND page = 0)
    AND (source, path, file_bytes, file_mtime_ns)
        NOT IN (SELECT source, path, file_bytes, file_mtime_ns FROM incoming_billed)
)
OR (
    page > 0
    AND (source, report, scope, day, path, page)
        IN (SELECT source, report, scope, cast(day AS DATE), path, page FROM incoming_billed)
    AND (source, path, file_bytes, file_mtime_ns)
        NOT IN (SELECT source, path, file_bytes, file_mtime_ns FROM incoming_billed)
)
OR (
    (source, path, file_bytes, file_mtime_ns, byte_from, page)
        IN (SELECT source, path, file_bytes, file_mtime_ns, byte_from, page FROM incoming_billed)
    AND (source, path, task) NOT IN (SELECT source, path, task FROM incoming_billed)
)
