-- The latest version of the attribution, and the hash of the rules that made it; no row before the first.
SELECT version, rules FROM attribution_state
