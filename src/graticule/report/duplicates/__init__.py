"""The page of near-duplicates: pairs to look at."""
