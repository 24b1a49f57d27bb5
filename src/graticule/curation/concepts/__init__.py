"""Which labels look different around the world, and what they are called there."""
