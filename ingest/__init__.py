"""What comes in: connectors obtain bytes, formats read records, the pipeline fingerprints and stores them."""
