-- Drops what a replay needs only on the way: boundaries looked at and their hits.
DROP TABLE IF EXISTS layout_probes;
DROP TABLE IF EXISTS layout_events;
DROP TABLE IF EXISTS layout_hits
