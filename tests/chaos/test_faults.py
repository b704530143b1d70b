"""Whatever fails: nothing is lost or leaked, the reward says whether it may be trusted."""

import os
import signal
import threading
import time

import pytest

from codeenv.sandbox.base import Limits
from tests.chaos.conftest import SUBMIT, run


def _calling(episode, action):
    """Call in another thread; return the thread and where the result goes."""
    results = []
    thread = threading.Thread(target=lambda: results.append(episode.call(action)))
    thread.start()
    return thread, results


def _await_process(episode, words):
    """Wait until a command of an episode runs; another episode's box cannot be asked."""
    while not any(words in _cmdline(pid) for pid in os.listdir("/proc") if pid.isdigit()):
        os.sched_yield()


def _cmdline(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().decode(errors="replace")
    except OSError:
        return ""


def test_a_wall_that_is_killed_ends_its_episode_as_invalid_and_no_other(stage):
    broken, other = stage.begin(), stage.begin()
    thread, results = _calling(broken, run("sleep 4321"))
    _await_process(broken, "sleep\0004321")
    stage.kill_host(broken)
    thread.join(30)

    assert not thread.is_alive()
    assert (results[0].ok, results[0].error) == (False, "episode_over")
    assert (broken.outcome.reason, broken.outcome.reward_valid) == ("infra_error", False)
    assert broken.outcome.reward == 0.0
    solved = stage.solve(other)
    assert (solved.reward, solved.reward_valid) == (1.0, True)
    assert stage.solve(stage.begin()).reward == 1.0, "the next episode has a fresh wall"


def test_a_wall_that_dies_while_the_agent_thinks_is_no_reward_either(stage):
    episode = stage.begin()
    stage.kill_host(episode)
    episode.call(SUBMIT)

    assert (episode.outcome.reason, episode.outcome.reward_valid) == ("infra_error", False)


@pytest.mark.parametrize("times", [1, 9])
def test_a_grader_that_is_killed_is_tried_again_and_never_a_wrong_reward(stage, times, monkeypatch):
    episode, killed = stage.begin(), []
    backend = stage.runtime.backend
    opened = backend.open

    def fragile(*arguments, **options):
        box = opened(*arguments, **options)
        if options.get("role") == "grader" and len(killed) < times:
            killed.append(box)
            stage.kill_host(_Holder(box))
        return box

    monkeypatch.setattr(backend, "open", fragile)
    outcome = stage.solve(episode)

    assert killed
    expected = (1.0, True) if times == 1 else (0.0, False)
    assert (outcome.reward, outcome.reward_valid) == expected


class _Holder:
    def __init__(self, sandbox):
        self.sandbox = sandbox


def test_a_command_that_eats_all_memory_dies_alone(stage):
    stage.runtime._limits = Limits(memory=256 * 1024**2, disk=64 * 1024**2)
    episode = stage.begin()
    eat = 'python3 -c "x = [bytearray(10**7) for _ in range(10**4)]"; echo code $?'
    result = episode.call(run(f"({eat}) & ({eat}) & wait"))

    assert "code 0" not in result.text
    assert stage.solve(episode).reward == 1.0


def test_a_full_disk_in_a_box_is_the_agents_to_clean(stage):
    stage.runtime._limits = Limits(memory=512 * 1024**2, disk=16 * 1024**2)
    episode = stage.begin()
    result = episode.call(run("head -c 100M /dev/zero > /tmp/full; echo more > note"))
    assert "No space left" in result.text
    episode.call(run("rm /tmp/full"))

    assert stage.solve(episode).reward == 1.0


def test_a_command_that_hangs_costs_its_time_and_leaves_no_process(stage):
    episode = stage.begin()
    result = episode.call(run("trap '' TERM INT; (setsid sleep 4322 &); sleep 4322", timeout=1))

    assert result.timed_out
    assert not any("sleep\0004322" in _cmdline(p) for p in os.listdir("/proc") if p.isdigit())
    assert stage.solve(episode).reward == 1.0


def test_a_rollout_that_is_cancelled_leaves_nothing_and_the_next_one_works(stage):
    episode = stage.begin()
    before = signal.signal(signal.SIGALRM, _interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(KeyboardInterrupt):
            episode.call(run("sleep 4323"))
    finally:
        signal.signal(signal.SIGALRM, before)
    episode.close()

    assert not any("sleep\0004323" in _cmdline(p) for p in os.listdir("/proc") if p.isdigit())
    assert stage.solve(stage.begin()).reward == 1.0


def _interrupt(number, frame):
    raise KeyboardInterrupt


def test_a_wall_clock_that_jumps_changes_no_deadline(stage, monkeypatch):
    from codeenv.env.episode import EpisodeLimits

    episode = stage.begin(limits=EpisodeLimits(wall_time=600))
    for jump in (10**9, -(10**9)):
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + jump)  # noqa: B023 - used at once
        assert episode.call(run("echo on")).text.startswith("on")
    assert stage.solve(episode).reward == 1.0
