-- Stores the example requests of a run.
INSERT INTO plan_evidence
SELECT run_id, fingerprint, place, request_key, start_us, before_pusd, after_pusd, note FROM plan_new_evidence
