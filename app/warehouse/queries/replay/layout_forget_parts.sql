-- Drops the parts that layout_bounds was made from.
DROP TABLE IF EXISTS layout_parts;
DROP TABLE IF EXISTS layout_sample;
DROP TABLE IF EXISTS layout_moved;
DROP TABLE IF EXISTS layout_heads;
DROP TABLE IF EXISTS layout_sorted;
DROP TABLE IF EXISTS layout_tools;
DROP TABLE IF EXISTS layout_firsts;
DROP TABLE IF EXISTS layout_behind
