"""All accepted candidates priced together: joint total, shares, intervals, findings and their life."""
