"""What images are worth: data sets compared, relative value, mixes at a fixed budget, and what to buy next."""
