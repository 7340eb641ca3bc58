"""Settings from YAML: read strictly, held against the types of their fields."""
