-- When a version last changed a figure, and which. One row: version, done_us; none where none ever did.
SELECT version, done_us
FROM cost_slices
WHERE changed > 0
ORDER BY done_us DESC, version DESC
LIMIT 1
