"""From a recipe to everything an episode needs."""
