-- Records the width of the roll-ups' buckets.
DELETE FROM rollup_state;
INSERT INTO rollup_state VALUES ($bucket_us)
