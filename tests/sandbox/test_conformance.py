"""What every backend promises about commands."""

import time
from dataclasses import replace
from signal import Signals

import pytest

from codeenv.errors import SandboxError
from tests.sandbox.conftest import LIMITS

PYTHON = "python3"


def test_output_and_errors_come_interleaved(box):
    result = box.exec("echo one; echo two >&2; echo three")

    assert (result.exit_code, result.text) == (0, "one\ntwo\nthree\n")


def test_an_exit_code_is_passed_on(box):
    assert box.exec("exit 7").exit_code == 7


def test_unicode_survives_both_ways(box):
    assert box.exec("printf %s 'naïve 漢字 🐍'").text == "naïve 漢字 🐍"


def test_output_that_is_not_text_survives(box):
    result = box.exec(["printf", r"\000\377\200x"])

    assert result.output == b"\x00\xff\x80x"
    assert result.text == "\x00\ufffd\ufffdx"


def test_no_output_is_no_output(box):
    result = box.exec("true")

    assert (result.output, result.output_bytes, result.truncated) == (b"", 0, False)


def test_death_by_a_signal_is_128_and_the_signal(box):
    assert box.exec("kill -SEGV $$").exit_code == 128 + 11


@pytest.mark.parametrize("name", ["HUP", "INT", "PIPE", "TERM"])
def test_the_signals_that_end_programs_end_those_of_a_box(box, name):
    result = box.exec(["bash", "-c", f"grep SigIgn /proc/self/status; kill -{name} $$; echo alive"])

    assert result.exit_code == 128 + Signals[f"SIG{name}"]
    assert int(result.text.split()[1], 16) & 0x7FFFFFFF == 0, "no standard signal is ignored"


def test_a_missing_program_is_a_result(box):
    result = box.exec(["no-such-program"])

    assert result.exit_code == 127
    assert "no-such-program" in result.text


def test_a_file_that_cannot_run_is_a_result(box):
    assert box.exec(["./README.md"]).exit_code == 126


@pytest.mark.parametrize(
    "command",
    ["x" * 200_000, ["true", "nul\0byte"], ["true", "\ud800"], [], [""]],
    ids=["long", "nul", "surrogate", "empty", "nameless"],
)
def test_a_command_no_system_could_start_is_a_result(box, command):
    assert box.exec(command).exit_code in (126, 127)
    assert box.exec("true", env={"A=B": "x"}).exit_code == 126
    assert box.exec("echo fine").text == "fine\n"


def test_a_missing_folder_to_run_in_is_a_result(box):
    result = box.exec("true", cwd="no/such")

    assert result.exit_code == 126
    assert "no/such" in result.text


def test_an_argument_vector_is_not_read_by_a_shell(box):
    assert box.exec(["printf", "%s|", "a b", "$HOME", "*"]).text == "a b|$HOME|*|"


def test_commands_start_in_the_workspace(box):
    assert box.exec("pwd").text == box.workspace + "\n"
    assert box.exec("pwd", cwd="src").text == f"{box.workspace}/src\n"
    assert box.exec("pwd", cwd="/usr").text == "/usr\n"


def test_standard_input_is_what_was_given_and_then_ends(box):
    assert box.exec("cat; echo over", stdin=b"some\x00bytes").output == b"some\x00bytesover\n"
    assert box.exec("cat").output == b""


def test_much_standard_input_does_not_jam(box):
    data = b"0123456789abcdef" * 65536

    assert box.exec("cat", stdin=data, output_limit=len(data)).output == data
    assert box.exec("true", stdin=data).exit_code == 0


def test_variables_are_added_to_the_image_s(box):
    result = box.exec("echo $EXTRA-$LANG-$PAGER", env={"EXTRA": "mine", "PAGER": "less"})

    assert result.text == "mine-C.UTF-8-less\n"


def test_nothing_of_the_host_s_environment_is_seen(world, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    box = world.open()

    assert "hunter2" not in box.exec("env").text


def test_variables_of_one_command_are_gone_in_the_next(box):
    box.exec("export A=1; cd /")

    assert box.exec("echo ${A-unset} $PWD").text == f"unset {box.workspace}\n"


def test_a_deadline_keeps_the_output_so_far(box):
    result = box.exec("echo before; sleep 60; echo after", timeout=0.3)

    assert (result.exit_code, result.timed_out, result.text) == (124, True, "before\n")


def test_a_deadline_kills_grandchildren_however_they_hide(box):
    hidden = "sh -c 'setsid sh -c \"sleep 311 & sleep 312\" & exit 0'"
    result = box.exec(
        f"(setsid sleep 313 &) ; env -i setsid sleep 314 & {hidden}; sleep 315", timeout=0.5
    )

    assert result.timed_out
    assert box.exec("ps -ef | grep -c '[s]leep 31'").text.strip() == "0"


def test_a_deadline_spares_background_processes_of_earlier_commands(box):
    box.exec("sleep 321 & echo $! > pid")
    box.exec("sleep 60", timeout=0.2)

    assert box.exec("kill -0 $(cat pid)").exit_code == 0


def test_a_background_child_that_holds_the_output_does_not_block(box):
    start = time.monotonic()
    result = box.exec("sleep 60 & echo done")

    assert result.text == "done\n"
    assert time.monotonic() - start < 5


def test_a_background_child_may_go_on_writing(box):
    box.exec("(while echo noise; do :; done) & echo $! > pid")

    assert box.exec("kill -0 $(cat pid) && kill $(cat pid)").exit_code == 0


def test_a_background_process_lives_on_to_the_next_command(box):
    box.exec("sleep 331 > /dev/null & echo $! > pid")

    assert box.exec("kill -0 $(cat pid)").exit_code == 0


def test_a_command_can_wait_until_an_orphan_of_it_is_gone(box):
    orphan = "bash -c '(until test -e go; do :; done) & echo $! > pid'"
    gone = "while kill -0 $(cat pid) 2> /dev/null; do :; done; echo gone"
    result = box.exec(f"{orphan}; touch go; {gone}", timeout=20)

    assert (result.exit_code, result.text) == (0, "gone\n")


def test_long_output_keeps_head_and_tail_and_a_full_log(box):
    result = box.exec("seq 1 20000", output_limit=1000)

    assert result.truncated
    assert len(result.output) == 1000
    assert result.output.startswith(b"1\n2\n")
    assert result.output.endswith(b"19999\n20000\n")
    assert result.output_bytes == len("".join(f"{n}\n" for n in range(1, 20001)))
    assert box.read_file(result.log_path).count(b"\n") == 20000


def test_output_at_the_limit_is_not_cut(box):
    result = box.exec("printf 1234567890", output_limit=10)

    assert (result.output, result.truncated, result.log_path) == (b"1234567890", False, "")


def test_endless_output_ends_at_the_deadline(box):
    result = box.exec("yes", timeout=0.5, output_limit=100)

    assert result.timed_out
    assert len(result.output) == 100
    assert result.output_bytes > 1_000_000
    assert len(box.read_file(result.log_path)) <= 8 * 1024**2


def test_a_report_is_apart_from_the_output(box):
    result = box.exec("echo out; echo report >&3", report_limit=100)

    assert (result.text, result.report) == ("out\n", b"report\n")


def test_a_report_is_kept_up_to_its_limit(box):
    assert box.exec("seq 1 9999 >&3", report_limit=10).report == b"1\n2\n3\n4\n5\n"


def test_without_a_report_limit_there_is_no_report_channel(box):
    assert box.exec("echo lost >&3").exit_code != 0


def test_a_command_inherits_no_descriptors(box):
    box.exec("sleep 60 &")  # its output pipe stays open in the tool server

    assert box.exec("ls /proc/self/fd").text.split() == ["0", "1", "2", "3"]  # 3 is the folder


def test_programs_of_the_environment_come_first(box):
    assert box.exec([PYTHON, "-c", "print(6 * 7)"]).text == "42\n"


def test_a_closed_box_refuses_everything(box):
    box.close()

    for call in (lambda: box.exec("true"), lambda: box.read_file("x"), box.export):
        with pytest.raises(SandboxError, match="closed"):
            call()


def test_closing_twice_is_closing_once(world):
    with world.open() as box:
        box.close()
    box.close()


def test_boxes_side_by_side_do_not_meet(world):
    first, second = world.open(), world.open()
    first.write_file("mine.txt", b"1")

    assert second.exec("test -e mine.txt").exit_code == 1
    assert second.exec("pwd").exit_code == first.exec("pwd").exit_code == 0


def test_a_command_that_writes_nothing_for_too_long_is_killed(world):
    box = world.open(limits=replace(LIMITS, idle=0.5))
    result = box.exec("echo begun; sleep 60", timeout=60)

    assert (result.timed_out, result.idle, result.text) == (True, True, "begun\n")
    assert result.exit_code == 124


def test_a_command_that_writes_now_and_then_goes_on(world):
    box = world.open(limits=replace(LIMITS, idle=2.0))
    slow = "import time\nfor n in range(8): time.sleep(0.3); print(n, flush=True)"
    result = box.exec(["python3", "-c", slow])

    assert (result.timed_out, result.idle, result.exit_code) == (False, False, 0)


def test_a_deadline_is_told_from_silence(world):
    result = world.open(limits=replace(LIMITS, idle=60.0)).exec("sleep 60", timeout=0.3)

    assert (result.timed_out, result.idle) == (True, False)
