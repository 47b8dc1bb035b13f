"""Rules in blocks, each read on its own, that become one index: what a build on many machines is made of."""
