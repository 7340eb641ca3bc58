"""Settings from YAML: read strictly, checked against the types of their fields."""
