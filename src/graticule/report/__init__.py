"""Tables of numbers as figures and one self-contained page."""
