"""All families of cases, by split."""

from codeenv_harness.corpus import (
    dev_contamination,
    dev_copies,
    dev_files,
    dev_honest,
    dev_places,
    dev_source,
    dev_values,
    dev_words,
    fresh_files,
    fresh_places,
    fresh_source,
    later_contamination,
    later_files,
    later_source,
    later_words,
)
from codeenv_harness.corpus.cases import Family, Scene, Split, acted

_DEV = (
    *dev_contamination.FAMILIES,
    *dev_copies.FAMILIES,
    *dev_files.FAMILIES,
    *dev_places.FAMILIES,
    *dev_words.FAMILIES,
    *dev_source.FAMILIES,
    *dev_values.FAMILIES,
    *dev_honest.FAMILIES,
)
_LATER = (
    *later_contamination.FAMILIES,
    *later_files.FAMILIES,
    *later_source.FAMILIES,
    *later_words.FAMILIES,
)
FAMILIES: dict[Split, tuple[Family, ...]] = {
    "dev": (*_DEV, *_LATER),
    "unseen": (*fresh_places.FAMILIES, *fresh_files.FAMILIES, *fresh_source.FAMILIES),
}


def scenes(split: Split) -> tuple[Scene, ...]:
    """Return the labelled episodes of a split, in the order of their families."""
    return tuple(scene for family in FAMILIES[split] for scene in acted(family))
