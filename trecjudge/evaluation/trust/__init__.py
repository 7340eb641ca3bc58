"""What is known of a judge: its card, what it says of nothing, whether it is still the same."""
