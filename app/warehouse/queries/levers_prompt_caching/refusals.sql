-- Scopes that got no cache layout and why, as the last detection found them.
-- Returns (feature, model_id, reason, why, needed_tokens, have_tokens).
SELECT feature, model_id, reason, why, needed_tokens, have_tokens
FROM layout_refusals
ORDER BY feature, model_id, reason
