"""Our judges run by other tools, as those tools want a judge to be."""
