"""Python: discovery, test runs, coverage, surgery."""
