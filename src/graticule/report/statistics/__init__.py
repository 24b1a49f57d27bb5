"""What a data set is made of, as a page: maps, counts and how even they are."""
