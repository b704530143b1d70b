"""From a repository to recipes: the pipeline, one module per stage."""

from codeenv.generate.models import Event, GenerateOptions, GenerationResult, Reason, Verdict
from codeenv.generate.pipeline import generate

__all__ = ["Event", "GenerateOptions", "GenerationResult", "Reason", "Verdict", "generate"]
