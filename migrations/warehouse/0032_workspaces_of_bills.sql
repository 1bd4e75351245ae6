-- An export of Anthropic's costs or usage may be of some workspaces alone, and says nothing of the others: lines are
-- replaced by workspace. What was read before is named as it would be now; bills are settled anew.
UPDATE billed SET scope = '/' || coalesce(account, '')
WHERE scope = '' AND report IN ('anthropic_costs', 'anthropic_usage');
DELETE FROM bill_state;
