"""How bytes are obtained: files and folders, a watched folder, HTTP sources."""
