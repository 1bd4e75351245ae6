"""What goes out: the analysis as text and as JSON, later the weekly report and its channels."""
