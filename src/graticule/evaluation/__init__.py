"""Scores of predictions by place, with their uncertainty."""
