"""What was worked out of files is kept for as many bytes of them as memory allows."""

from concurrent.futures import ThreadPoolExecutor

from codeenv.languages.python.remembering import remember


def counted(most: int):
    asked: list[bytes] = []

    @remember(most)
    def length(data: bytes) -> int:
        asked.append(data)
        return len(data)

    return length, asked


def test_a_result_is_worked_out_once():
    length, asked = counted(100)
    assert [length(b"abc"), length(b"abc"), length(b"de")] == [3, 3, 2]
    assert asked == [b"abc", b"de"]


def test_the_files_that_were_not_asked_about_for_longest_are_forgotten():
    length, asked = counted(10)
    for data in (b"a" * 4, b"b" * 4, b"a" * 4, b"c" * 4, b"a" * 4, b"b" * 4):
        length(data)
    assert asked == [b"a" * 4, b"b" * 4, b"c" * 4, b"b" * 4]


def test_a_file_that_is_too_large_is_remembered_until_the_next():
    length, asked = counted(10)
    for data in (b"a" * 99, b"a" * 99, b"b", b"a" * 99):
        length(data)
    assert asked == [b"a" * 99, b"b", b"a" * 99]


def test_threads_get_the_same_results():
    length, _ = counted(50)
    files = [bytes([65 + n % 7]) * (n % 7 + 1) for n in range(200)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(length, files)) == [len(data) for data in files]
