"""Why a region fails, and models side by side, as pages: figures from the metrics table, and what joins them."""
