"""Standard-library code that runs inside a sandbox."""
