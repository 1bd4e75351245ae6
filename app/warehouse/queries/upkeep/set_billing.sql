-- Notes what the user says about how a source's tokens are billed.
UPDATE sources SET billing = $billing, billing_said_by = 'user' WHERE source = $source
