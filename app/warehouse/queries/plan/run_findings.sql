-- The findings of a run in their order: (fingerprint, detail).
SELECT fingerprint, detail FROM plan_findings WHERE run_id = $run_id ORDER BY place
