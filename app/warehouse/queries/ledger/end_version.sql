-- Ends a version: whole, or left with a part of its time done.
UPDATE cost_versions SET ended_us = $ended_us, ending = $ending WHERE version = $version
