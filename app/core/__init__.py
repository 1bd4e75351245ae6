"""The vocabulary of Halve: plain values, no I/O, no framework. Everything may import it; it imports nothing."""
