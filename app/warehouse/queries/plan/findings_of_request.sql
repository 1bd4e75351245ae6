-- The findings of the newest run that show this request as an example: (fingerprint).
SELECT DISTINCT fingerprint
FROM plan_evidence
WHERE request_key = $request_key AND run_id = (SELECT max(run_id) FROM plan_runs)
