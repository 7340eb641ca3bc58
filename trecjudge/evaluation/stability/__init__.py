"""How stable a judge is: the same answers said otherwise, and the same questions asked again."""
