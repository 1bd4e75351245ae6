-- layout_probes without those that nobody can hit, as the temporary table layout_events: a boundary that is only looked at
-- matters where another request writes it.
CREATE OR REPLACE TEMPORARY TABLE layout_events AS
SELECT p.key AS key, p.start_us AS start_us, p.request_key AS request_key, p.pos AS pos, p.tokens_upto AS tokens_upto,
       p.ready_us AS ready_us, p.ttl_us AS ttl_us
FROM layout_probes AS p
WHERE p.ready_us IS NOT NULL
   OR p.key IN (SELECT w.key AS key FROM layout_probes AS w WHERE w.ready_us IS NOT NULL)
