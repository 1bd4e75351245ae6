-- The other models that are priced now, by model of the stream (columns: app/plan/options.py), in a fixed order.
SELECT * FROM model_options ORDER BY provider, model_id, to_provider, to_model_id
