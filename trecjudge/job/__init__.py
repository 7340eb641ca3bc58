"""One job from what is asked for to its config: workflow, judges, inputs, the order of steps."""
