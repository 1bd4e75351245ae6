-- Drops the texts that are older than before_us and shared by fewer than shared_by requests.
DELETE FROM texts.contents
WHERE seen_us < $before_us AND hash NOT IN (
    SELECT seg_hash FROM segments WHERE is_boundary GROUP BY seg_hash HAVING count(DISTINCT request_key) >= $shared_by
)
