"""What happened in an episode, as data."""
