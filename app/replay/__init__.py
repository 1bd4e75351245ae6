"""The cache primitive, provider cache rules, breakpoints and lifetimes, the counterfactual request stream."""
