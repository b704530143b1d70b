"""Recipes and tasksets: the facts of tasks."""
