"""Plays on the nodes of a Ray cluster; only what is in here needs Ray.

``runner`` hands out and hears, ``crew`` keeps a worker on each node, ``worker`` plays there,
``travel`` says what goes there, ``purse`` counts for all, ``cluster`` connects.
"""
