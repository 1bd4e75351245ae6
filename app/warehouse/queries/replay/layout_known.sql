-- The scopes a layout was prepared for. Returns (scope_id, feature, template, provider, model_id).
SELECT scope_id, feature, template, provider, model_id FROM layout_scopes ORDER BY scope_id
