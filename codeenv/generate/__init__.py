"""From a repository to recipes: the pipeline, one module per stage."""

from codeenv.generate.harder import generate_harder
from codeenv.generate.many import RepositoryEnd, generate_many, parse_repositories
from codeenv.generate.models import Event, GenerateOptions, GenerationResult, Reason, Verdict
from codeenv.generate.pipeline import generate
from codeenv.generate.richer import generate_richer

__all__ = [
    "Event",
    "GenerateOptions",
    "GenerationResult",
    "Reason",
    "RepositoryEnd",
    "Verdict",
    "generate",
    "generate_harder",
    "generate_many",
    "generate_richer",
    "parse_repositories",
]
