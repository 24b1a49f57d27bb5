"""People's answers: whom to ask what, whom to believe, and the labels that follow."""
