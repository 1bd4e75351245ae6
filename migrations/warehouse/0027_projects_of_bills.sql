-- An export of OpenAI's costs or usage may be of some projects alone, and says nothing of the others: lines are replaced by
-- project. What was read before is named as it would be now; bills are settled anew.
UPDATE billed SET scope = scope || '/' || coalesce(account, '')
WHERE report = 'openai_costs' OR report LIKE 'openai!_usage!_%' ESCAPE '!';
DELETE FROM bill_state;
