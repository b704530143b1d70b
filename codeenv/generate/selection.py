"""Which candidates become tasks: judged in batches, accepted in order, none too like another."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from codeenv.generate.features import overlap
from codeenv.generate.models import Feature, Reason, Verdict

MOST_OVERLAP = 0.5
_BATCH = 128
"""Enough to share runs of the suite, and to keep every box at work while some tests wait."""


def select(
    features: Sequence[Feature],
    judge: Callable[[Sequence[Feature]], Sequence[Verdict]],
    *,
    limit: int | None,
) -> Iterator[Verdict]:
    """Yield one verdict per feature, in the given order, whatever the batches are.

    A feature is a duplicate of an earlier *accepted* one.  Features that are alike are never judged
    in one batch, so that nothing is proven in vain; what a batch proves past the limit is dropped.
    """
    accepted: list[Feature] = []
    judged: dict[str, Verdict] = {}
    for index, feature in enumerate(features):
        left = _BATCH if limit is None else limit - len(accepted)
        twin = _twin(feature, accepted)
        if left <= 0:
            yield Verdict(feature, Reason.NOT_TRIED)
        elif twin:
            yield Verdict(feature, Reason.DUPLICATE, f"of {twin.told}")
        else:
            if feature.key not in judged:
                batch = _batch(features[index:], accepted, judged, min(left, _BATCH))
                judged |= {verdict.feature.key: verdict for verdict in judge(batch)}
            verdict = judged[feature.key]
            if verdict.reason == Reason.EMITTED:
                accepted.append(feature)
            yield verdict


def _batch(
    features: Iterable[Feature],
    accepted: Sequence[Feature],
    judged: Mapping[str, Verdict],
    size: int,
) -> list[Feature]:
    """Return the next features to judge; one like an earlier undecided one waits for it."""
    batch: list[Feature] = []
    waited_for: list[Feature] = []
    for feature in features:
        if len(batch) == size:
            break
        if _twin(feature, accepted):
            continue
        known = judged.get(feature.key)
        if known is None and not _twin(feature, waited_for):
            batch.append(feature)
        if known is None or known.reason == Reason.EMITTED:
            waited_for.append(feature)
    return batch


def _twin(feature: Feature, others: Iterable[Feature]) -> Feature | None:
    return next((other for other in others if overlap(feature, other) > MOST_OVERLAP), None)
