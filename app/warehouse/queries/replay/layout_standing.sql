-- Whether a layout was prepared in this session: 3 where its tables stand. Returns (tables).
SELECT count(*) AS tables
FROM information_schema.tables
WHERE table_name IN ('layout_scopes', 'layout_requests', 'layout_bounds')
