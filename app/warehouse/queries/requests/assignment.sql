-- The latest attribution of one request: feature, team, environment, template, rule, version.
SELECT feature, team, environment, template, rule, version FROM attribution_latest WHERE request_key = $request_key
