-- Which requests an analysis reads: those of the window, with the latest attribution and the offset of local time.
-- `zone_offsets`(quarter, offset_us) turns an instant into local time. With `$paid_only` requests of sources that are
-- not billed per token, and those that bought capacity served, are left out, because saving on them frees capacity and no
-- dollars.
-- Narrow on purpose: the wide row of a request is read once, past this table, and never held for a join.
CREATE OR REPLACE TEMP TABLE stream_scope AS
SELECT r.request_key, z.offset_us, coalesce(a.feature, 'unassigned') AS feature, a.template
FROM counted_requests r
JOIN zone_offsets z ON z.quarter = cast(floor(r.start_us / 900000000.0) AS BIGINT)
LEFT JOIN attribution_latest a ON a.request_key = r.request_key
LEFT JOIN (SELECT source, max(billing) AS billing FROM sources GROUP BY source) s ON s.source = r.source
WHERE r.start_us >= $from_us AND r.start_us < $to_us
  AND (
    NOT cast($paid_only AS BOOLEAN)
    OR (s.billing = 'api' AND coalesce(r.service_tier, '') NOT IN ('provisioned', 'reserved', 'scale'))
  )
