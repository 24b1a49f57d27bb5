"""One file per metric."""
