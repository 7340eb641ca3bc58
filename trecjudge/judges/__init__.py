"""The judges, one folder each. A folder dropped into `judges/` is a judge, with no other edit."""

from trecjudge.settings.plugins import SHIPPED

# In a checkout the judges lie in `judges/` at its top, where one finds and copies them, and in the
# wheel in this very folder. A package is looked for where its parent's `__path__` says, so that
# both are `trecjudge.judges.NAME` for import, pickle and pytest. `plugins.judge_folders` adds the
# user's own. Between themselves judges import relatively (`..citation`): mypy, which sees the
# checkout's folder as it lies there, can follow that too.
__path__ = [str(SHIPPED / "judges")]
