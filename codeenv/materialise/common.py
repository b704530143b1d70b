"""Names too common to tell anything: fixed lists, so that recipes do not depend on the machine."""

_LEAST = 5
_WORDS = """
ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError
BrokenPipeError BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError
ConnectionRefusedError ConnectionResetError DeprecationWarning EOFError Ellipsis EncodingWarning
EnvironmentError Exception ExceptionGroup False FileExistsError FileNotFoundError
FloatingPointError FutureWarning GeneratorExit IOError ImportError ImportWarning IndentationError
IndexError InterruptedError IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError
ModuleNotFoundError NameError NotADirectoryError NotImplemented NotImplementedError OSError
OverflowError PendingDeprecationWarning PermissionError ProcessLookupError RecursionError
ReferenceError ResourceWarning RuntimeError RuntimeWarning StopAsyncIteration StopIteration
SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError TypeError UnboundLocalError
UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError UnicodeWarning
UserWarning ValueError Warning ZeroDivisionError aiter anext append as_integer_ratio ascii
bit_count bit_length breakpoint bytearray bytes c_contiguous callable capitalize casefold center
classmethod clear close compile complex config conjugate contiguous count datetime decode default
defaults delattr deleter denominator difference difference_update discard divmod encode endswith
enumerate escape expandtabs extend f_contiguous filter findall finditer float flush format
format_map from_bytes fromhex fromkeys frozenset fullmatch getattr getter getvalue globals group
groupdict hasattr index indices input insert intersection intersection_update is_integer isalnum
isalpha isascii isdecimal isdigit isdisjoint isidentifier isinstance islower isnumeric isoformat
isprintable isspace issubclass issubset issuperset istitle isupper items itemsize kwargs ljust
locals lower lstrip maketrans match memoryview names nbytes numerator object option options
partition popitem print property range readline readlines readonly release remove removeprefix
removesuffix replace result results reverse reversed rfind rindex rjust round rpartition rsplit
rstrip search setattr setdefault setter shape slice sorted split splitlines start startswith
staticmethod strftime strides strip suboffsets super swapcase symmetric_difference
symmetric_difference_update timedelta title to_bytes tobytes tolist toreadonly total_seconds
translate tuple union update upper value values write writelines zfill
"""
_COMMON = frozenset(_WORDS.split())
_METHODS = """
add append as_integer_ratio bit_count bit_length capitalize casefold center clear conjugate copy
count decode denominator difference difference_update discard encode endswith expandtabs extend
find format format_map from_bytes fromhex fromkeys get hex imag index insert intersection
intersection_update is_integer isalnum isalpha isascii isdecimal isdigit isdisjoint isidentifier
islower isnumeric isprintable isspace issubset issuperset istitle isupper items join keys ljust
lower lstrip maketrans numerator partition pop popitem real remove removeprefix removesuffix
replace reverse rfind rindex rjust rpartition rsplit rstrip setdefault sort split splitlines
startswith strip swapcase symmetric_difference symmetric_difference_update title to_bytes translate
union update upper values zfill
"""
PLAIN_METHODS = frozenset(_METHODS.split())
"""Methods of Python's own texts, numbers and containers: a test that calls one tells nothing."""


def is_telling(name: str) -> bool:
    """Return whether a name, found somewhere, says that it came from one project."""
    special = name.startswith("__") and name.endswith("__")
    return len(name) >= _LEAST and not special and name not in _COMMON
