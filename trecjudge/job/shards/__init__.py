"""A job judged in parts, by several processes or machines: cut, judged, merged in input order."""
