-- The models of the stream that cost something: (provider, model_id).
SELECT DISTINCT provider, model_id FROM stream WHERE cost_pusd > 0 ORDER BY provider, model_id
