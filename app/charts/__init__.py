"""Vega-Lite specifications, built from prepared rows; no drawing code of ours."""
