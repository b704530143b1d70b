"""Agents, rollouts, metrics and reports on top of codeenv."""
