"""Places: countries, region schemes, point to country, grid cells."""
