"""What judges of nuggets share: whether a text states one, and ARGUE's tree of decisions."""
