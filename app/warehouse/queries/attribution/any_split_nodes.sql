-- One row where some template may be several prompts, none where none may.
SELECT node FROM split_nodes ORDER BY node LIMIT 1
