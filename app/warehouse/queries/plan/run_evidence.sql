-- The example requests of a run: (fingerprint, request_key, start_us, before_pusd, after_pusd, note).
SELECT fingerprint, request_key, start_us, before_pusd, after_pusd, note
FROM plan_evidence WHERE run_id = $run_id ORDER BY fingerprint, place
