-- Notes that a migration ran.
INSERT INTO warehouse_version (version, name, applied_us) VALUES ($version, $name, $applied_us)
