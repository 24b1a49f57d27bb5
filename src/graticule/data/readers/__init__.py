"""One file per layout that images or predictions come in."""
