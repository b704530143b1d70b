"""The reference trainer and the training study: a small policy that learns on real episodes."""
