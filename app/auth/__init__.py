"""Who may see and change what: the access token, sessions, the cross-origin check."""
