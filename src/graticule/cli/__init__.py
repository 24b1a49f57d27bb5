"""The command line: one file per stage."""
