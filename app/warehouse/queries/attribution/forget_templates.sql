-- Forgets every known template: the next run finds them anew.
DELETE FROM templates
