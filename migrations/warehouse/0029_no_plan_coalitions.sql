-- What sets of levers save stands in the games of a run, by scope: the sums over scopes were read by nobody.
DROP TABLE plan_coalitions;
