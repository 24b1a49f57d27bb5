"""The pages of ``graticule value``: curves, gains, coverage and quotas."""
