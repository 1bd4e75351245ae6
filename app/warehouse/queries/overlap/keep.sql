-- Puts what was found ({found}, in the columns of source_overlaps) in the place of what stood, and remembers how large each
-- source was.
DELETE FROM source_overlaps;
INSERT INTO source_overlaps
SELECT source_a, source_b, from_us, to_us, calls_a, calls_b, twins, chance FROM {found};
DELETE FROM overlap_seen;
INSERT INTO overlap_seen SELECT source, count(*) AS requests FROM requests GROUP BY source
