"""The panels of the page: what each says, ready for the templates."""
