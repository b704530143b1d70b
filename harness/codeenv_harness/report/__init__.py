"""What runs gave, as facts, as Markdown and as one page that needs nothing else.

Every figure is over the rollouts with a valid reward, unless its name says otherwise.
"""

from codeenv_harness.report.collect import collect
from codeenv_harness.report.facts import Report, RunFacts
from codeenv_harness.report.markdown import markdown
from codeenv_harness.report.places import RunPlace, find_runs

__all__ = ["Report", "RunFacts", "RunPlace", "collect", "find_runs", "markdown"]
