"""Which candidates become tasks: judged side by side, accepted in order, none too like another."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from codeenv.generate.features import overlap
from codeenv.generate.models import Feature, Reason, Verdict

MOST_OVERLAP = 0.5


def select(
    features: Sequence[Feature],
    judge: Callable[[Feature], Verdict],
    *,
    limit: int | None,
    jobs: int,
) -> Iterator[Verdict]:
    """Yield one verdict per feature, in the given order, whatever the number of jobs.

    A feature is a duplicate of an earlier *accepted* one.  Judging runs ahead by twice the jobs, so
    that none waits for a slow one; work done ahead for a feature that turns out a duplicate or past
    the limit is thrown away.
    """
    accepted: list[Feature] = []
    ahead: dict[str, Future[Verdict]] = {}
    pool = ThreadPoolExecutor(max(1, jobs), thread_name_prefix="judge")
    window = 2 * jobs if jobs > 1 else 1
    try:
        for index, feature in enumerate(features):
            if limit is not None and len(accepted) >= limit:
                yield Verdict(feature, Reason.NOT_TRIED)
                continue
            for other in features[index : index + window]:
                if other.key not in ahead and not _twin(other, accepted):
                    ahead[other.key] = pool.submit(judge, other)
            verdict = _decide(feature, accepted, ahead)
            if verdict.reason == Reason.EMITTED:
                accepted.append(feature)
            yield verdict
    finally:
        # Do not wait: after Ctrl-C the owner closes the backend, and that ends what still runs.
        pool.shutdown(wait=False, cancel_futures=True)


def _decide(
    feature: Feature, accepted: Sequence[Feature], ahead: dict[str, Future[Verdict]]
) -> Verdict:
    twin = _twin(feature, accepted)
    if twin:
        future = ahead.pop(feature.key, None)
        if future:
            future.cancel()
        return Verdict(feature, Reason.DUPLICATE, f"of {twin.seed.id}")
    return ahead.pop(feature.key).result()


def _twin(feature: Feature, accepted: Sequence[Feature]) -> Feature | None:
    return next((other for other in accepted if overlap(feature, other) > MOST_OVERLAP), None)
