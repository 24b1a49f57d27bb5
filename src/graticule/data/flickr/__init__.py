"""A client of Flickr's API: photos by tags and area with their places and licences, and places by photo id."""
