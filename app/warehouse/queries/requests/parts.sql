-- The separately billed parts of one request, in order: every column of request_parts.
SELECT * FROM request_parts WHERE request_key = $request_key ORDER BY part
