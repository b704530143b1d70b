"""From a repository to recipes: the pipeline, one module per stage."""
