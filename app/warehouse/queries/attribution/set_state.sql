-- Records which rules made the latest version.
DELETE FROM attribution_state;
INSERT INTO attribution_state VALUES ($version, $rules, $applied_us)
