"""From a pile of geotagged photos to a fair benchmark: steps that read and write images and say what they left out."""
