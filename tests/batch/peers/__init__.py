"""Servers that speak the providers' real batch protocols on loopback, as cruel as networks and providers are."""
