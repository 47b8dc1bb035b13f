"""Free text: how texts are cut into words, and the small language that asks about them."""
