"""The Gymnasium environment and the episode it plays."""
