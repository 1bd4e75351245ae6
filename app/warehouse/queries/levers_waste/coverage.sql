-- What the stream says about attempts: (requests, with_exact_key, failed, failed_and_billed).
SELECT count(*), count(exact_key), coalesce(sum(CASE WHEN status <> 'ok' THEN 1 ELSE 0 END), 0),
       coalesce(sum(CASE WHEN status <> 'ok' AND cost_pusd > 0 THEN 1 ELSE 0 END), 0)
FROM stream
