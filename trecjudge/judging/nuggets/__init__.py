"""What judges of nuggets share: whether a text states a nugget, and weights of importance."""
