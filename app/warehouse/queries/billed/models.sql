-- The models that bills name: provider, model (NULL where a line names none), model_id (as in bill_lines).
SELECT provider, model, max(model_id) AS model_id
FROM bill_lines
GROUP BY provider, model
ORDER BY provider, model
