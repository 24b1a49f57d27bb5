"""Carrying a model from a geography with labels (source) to one without (target)."""
