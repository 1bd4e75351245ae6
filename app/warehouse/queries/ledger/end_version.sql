-- Ends a version that has not ended: whole, or left with a part of its time done.
UPDATE cost_versions SET ended_us = $ended_us, ending = $ending WHERE version = $version AND ending IS NULL
