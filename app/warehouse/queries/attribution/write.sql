-- Writes the attribution of the pending requests as $version.
INSERT INTO attribution
SELECT request_key, feature, team, environment, template, rule, $version AS version FROM pending_attribution
