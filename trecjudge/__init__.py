"""Judge the output of retrieval-augmented generation systems in batch: what others may import.

The names are in `__init__.pyi`, each imported from its module when it is asked for, so that
`import trecjudge` costs nothing. See docs/python.md for what a notebook needs; the rest is for
judges and plug-ins.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
