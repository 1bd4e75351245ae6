-- What stands under the keys in former_keys, in every source that told of it: former_key, source, source_record,
-- provider_response_id, start_us.
SELECT
    r.request_key AS former_key,
    r.source,
    r.source_record,
    r.provider_response_id,
    r.start_us
FROM requests AS r
WHERE r.request_key IN (SELECT k.former_key FROM former_keys AS k)
UNION ALL
SELECT
    o.request_key AS former_key,
    o.source,
    o.source_record,
    r.provider_response_id,
    r.start_us
FROM request_origins AS o
INNER JOIN requests AS r ON r.request_key = o.request_key
WHERE o.request_key IN (SELECT k.former_key FROM former_keys AS k)
