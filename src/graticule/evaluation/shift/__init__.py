"""Why a region fails: label frequencies, backgrounds, designs, and how far each is apart between two regions."""
