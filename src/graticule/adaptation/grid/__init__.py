"""A benchmark: many runs over data sets, backbones, tasks, algorithms and seeds, and the tables they come to."""
