"""Turn any test-heavy repository into verifiable-reward episodes for coding agents."""
