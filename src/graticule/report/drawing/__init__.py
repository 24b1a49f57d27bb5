"""A small drawing layer: marks on scales, written as SVG for a file and as HTML that flows on a page."""
