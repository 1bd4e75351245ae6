-- Removes attributions older than the version before $version.
DELETE FROM attribution WHERE version < $version - 1
