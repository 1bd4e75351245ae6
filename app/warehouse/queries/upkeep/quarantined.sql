-- Records in quarantine. Columns: records.
SELECT count(*) AS records FROM quarantine
