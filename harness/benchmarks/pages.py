"""How fast pages are there: a report and the viewer over 1,000 rollouts, and 10,000 steps.

Run ``python harness/benchmarks/pages.py``, with ``--browser`` for a Chromium elsewhere than on the
path.  Times are from the first request to the first paint with the content, as the browser tells
them; the longest task is the longest time for which the page could not answer, by its own report
of tasks over 50 ms and by gaps between frames.
"""

import argparse
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from codeenv.trajectory import AgentInfo, RecordedCall, Step, Trajectory
from codeenv.trajectory.models import RecordedObservation, RecordedResult
from codeenv_harness.records import Manifest, RolloutRecord, RunFolder
from codeenv_harness.report import collect, find_runs
from codeenv_harness.report.html import page as report_page
from codeenv_harness.viewer import Library, ViewerServer

_ROLLOUTS, _EACH, _STEPS = 1000, 4, 10_000
_SHORT = 30
_FRAMES = """async () => {
  const gaps = [], box = document.getElementById('steps');
  new PerformanceObserver((found) => found.getEntries().forEach((one) => gaps.push(one.duration)))
    .observe({ type: 'longtask', buffered: false });
  let last = await new Promise(requestAnimationFrame), worst = 0;
  for (let n = 0; n < 300; n++) {
    box.scrollTop += box.scrollHeight / 300;
    const now = await new Promise(requestAnimationFrame);
    worst = Math.max(worst, now - last);
    last = now;
  }
  return [worst, Math.max(0, ...gaps)];
}"""
_KEYS = """async () => {
  let worst = 0, last = performance.now();
  for (let n = 0; n < 200; n++) {
    document.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true }));
    const now = await new Promise(requestAnimationFrame);
    worst = Math.max(worst, now - last);
    last = now;
  }
  return worst;
}"""


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--browser", default=shutil.which("chromium"), help="a Chromium")
    args = parser.parse_args()
    if args.browser is None:
        print("no chromium here: name one with --browser", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=args.browser, args=["--no-sandbox"])
        many, long = Path(name, "many"), Path(name, "long")
        _write(many, [_SHORT] * _ROLLOUTS)
        _write(long, [_STEPS])
        _report(browser, many)
        _list(browser, many)
        _trajectory(browser, long)
        browser.close()
    return 0


def _report(browser: Browser, folder: Path) -> None:
    start = time.perf_counter()
    text = report_page(collect(find_runs([folder]), {}))
    _tell(f"report of {_ROLLOUTS:,} rollouts: made in", time.perf_counter() - start)
    file = folder.parent / "report.html"
    file.write_text(text, "utf-8")
    page = browser.new_page()
    start = time.perf_counter()
    page.goto(file.as_uri())
    page.wait_for_selector("#filters:not([hidden])")
    _tell("  rendered in", time.perf_counter() - start)
    print(f"  {len(text) / 1e6:.2f} MB")
    page.close()


def _list(browser: Browser, folder: Path) -> None:
    with _served(folder) as url:
        page = browser.new_page()
        seconds = _opened(page, url)
        _tell(f"viewer of {_ROLLOUTS:,} rollouts: first rollout shown in", seconds)
        start = time.perf_counter()
        page.locator("#filter-text").fill(f"task-{_ROLLOUTS // _EACH - 1:04}")
        page.wait_for_selector(f"#count:has-text('{_EACH} of')")
        _tell("  filtered in", time.perf_counter() - start)
        page.close()


def _trajectory(browser: Browser, folder: Path) -> None:
    with _served(folder) as url:
        page = browser.new_page()
        _tell(f"viewer of {_STEPS:,} steps: overview shown in", _opened(page, url))
        place = f"{url}#/long/task-0000/0/step/{_STEPS - 5}"
        other = browser.new_page()
        _tell("  deep link to a late step shown in", _opened(other, place))
        other.close()
        frame, task = page.evaluate(_FRAMES)
        print(f"  scrolled through in 300 frames: worst {frame:.0f} ms, longest task {task:.0f} ms")
        print(f"  j, 200 times: worst frame {page.evaluate(_KEYS):.0f} ms")
        for words in ("nowhere at all", "found 9999 of"):
            start = time.perf_counter()
            page.locator("#words").fill(words)
            page.wait_for_selector("#hits:not(:empty)")
            _tell(f"  searched for {words!r} in", time.perf_counter() - start)
            page.locator("#words").fill("")
            page.wait_for_selector("#hits:empty", state="attached")
        page.close()


def _opened(page: Page, url: str) -> float:
    start = time.perf_counter()
    page.goto(url)
    page.wait_for_selector("#reading:not([aria-busy]) #detail h3")
    return time.perf_counter() - start


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    with ViewerServer(Library(folder)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.url
        finally:
            server.shutdown()
            thread.join()


def _tell(what: str, seconds: float) -> None:
    print(f"{what} {seconds:.2f} s")


def _write(folder: Path, lengths: list[int]) -> None:
    """Write a run of rollouts with so many steps."""
    ids = [f"task-{number // _EACH:04}" for number in range(len(lengths))]
    run = RunFolder(folder)
    manifest = Manifest(
        codeenv="1", agent="made", backend="none", recipes=dict.fromkeys(ids, "d"),
        rollouts=min(_EACH, len(lengths)), seed=0, profile="core4", max_steps=_STEPS,
        wall_time=1.0, output_budget=1,
    )  # fmt: skip
    run.begin(manifest, resume=False)
    for number, (task_id, length) in enumerate(zip(ids, lengths, strict=True)):
        run.add(_record(task_id, number, length), _episode(length))


def _record(task_id: str, number: int, length: int) -> RolloutRecord:
    resolved = number % 3 == 0
    return RolloutRecord(
        task_id=task_id, rollout=number % _EACH, seed=number, attempts=1, reward=float(resolved),
        reward_valid=True, reason="submitted", resolved=resolved, terminated=True,
        truncated=False, n_steps=length, components={"fail_to_pass": float(resolved)},
        not_passed={} if resolved else {f"tests/test_a.py::test_{n}": "failed" for n in range(20)},
        accepted_paths=["a.py"], ignored_paths=[],
    )  # fmt: skip


def _episode(length: int) -> Trajectory:
    steps = [_step(number) for number in range(1, length + 1)]
    return Trajectory(agent=AgentInfo(name="made", version="1"), steps=tuple(steps))


def _step(number: int) -> Step:
    """Return a call that gave 40 lines of code."""
    lines = (f"{n:6d}\tdef f{n}(x): return x + {n}  # found {number} of {n}" for n in range(40))
    call = RecordedCall(
        tool_call_id="c", function_name="read_file", arguments={"path": f"src/m{number}.py"}
    )
    seen = RecordedResult(source_call_id="c", content="\n".join(lines))
    return Step(
        step_id=number,
        source="agent",
        message=f"I look at module {number}.",
        tool_calls=(call,),
        observation=RecordedObservation(results=(seen,)),
    )


if __name__ == "__main__":
    sys.exit(main())
