-- Stores the findings of a run in their order.
INSERT INTO plan_findings
SELECT run_id, place, fingerprint, lever, feature, template, provider, model_id, grade, requests, standalone_pusd,
       last_in_pusd, allocated_pusd, detail
FROM plan_new_findings
