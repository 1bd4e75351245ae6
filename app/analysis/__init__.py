"""Questions about the facts: templates and attribution, spend, movers, repeats, periodicity."""
