"""A fictional company and a demo provider: a month of realistic traffic as provider logs."""
