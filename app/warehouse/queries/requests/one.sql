-- Every column of one request.
SELECT * FROM requests WHERE request_key = $request_key
