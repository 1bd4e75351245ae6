"""A fictional company: a month of realistic traffic, written as the logs that its providers and gateway would keep."""
