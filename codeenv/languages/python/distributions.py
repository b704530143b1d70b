"""Which distribution provides which module, fixture, marker or option."""

import sys

STANDARD_MODULES = sys.stdlib_module_names | {"distutils", "imp", "asyncore", "asynchat", "smtpd"}
"""Modules that no distribution can bring (back)."""

_RENAMED = """
Bio biopython|Crypto pycryptodome|Cryptodome pycryptodomex|MySQLdb mysqlclient|OpenGL pyopengl
OpenSSL pyopenssl|PIL pillow|Xlib python-xlib|attr attrs|backports.tarfile backports-tarfile
backports.zoneinfo backports-zoneinfo|bs4 beautifulsoup4|cairo pycairo|consul python-consul
crontab python-crontab|cv2 opencv-python-headless|daemon python-daemon|dateutil python-dateutil
dbus dbus-python|debug_toolbar django-debug-toolbar|discord discord-py|dns dnspython
docx python-docx|dotenv python-dotenv|engineio python-engineio|environ django-environ
ephem pyephem|factory factory-boy|faiss faiss-cpu|fitz pymupdf|gi pygobject|git gitpython
github pygithub|gitlab python-gitlab|google.protobuf protobuf|grpc grpcio
imblearn imbalanced-learn|jaraco.classes jaraco-classes|jaraco.collections jaraco-collections
jaraco.context jaraco-context|jaraco.envs jaraco-envs|jaraco.functools jaraco-functools
jaraco.itertools jaraco-itertools|jaraco.path jaraco-path|jaraco.stream jaraco-stream
jaraco.test jaraco-test|jaraco.text jaraco-text|jenkins python-jenkins|jose python-jose
jwt pyjwt|ldap python-ldap|magic python-magic|memcache python-memcached|mpl_toolkits matplotlib
multipart python-multipart|nacl pynacl|novaclient python-novaclient|odf odfpy|past future
pkg_resources setuptools<82|pptx python-pptx|psycopg2 psycopg2-binary|pylab matplotlib
pywintypes pywin32|pyximport cython|rest_framework djangorestframework|ruamel ruamel-yaml
ruamel.yaml ruamel-yaml|serial pyserial|skimage scikit-image|sklearn scikit-learn
slugify python-slugify|snappy python-snappy|socketio python-socketio|socks pysocks
telegram python-telegram-bot|tests_support testsupport|tlz toolz|umap umap-learn|usb pyusb
vcr vcrpy|win32api pywin32|xdist pytest-xdist|yaml pyyaml|zmq pyzmq
zope.component zope-component|zope.event zope-event|zope.interface zope-interface
zope.schema zope-schema|zope.testing zope-testing|zope.testrunner zope-testrunner
"""
DISTRIBUTIONS = dict(
    pair.split() for line in _RENAMED.split("\n") for pair in line.split("|") if pair
)

FIXTURES = {
    "mocker": "pytest-mock",
    "class_mocker": "pytest-mock",
    "module_mocker": "pytest-mock",
    "session_mocker": "pytest-mock",
    "httpserver": "pytest-httpserver",
    "httpbin": "pytest-httpbin",
    "httpx_mock": "pytest-httpx",
    "requests_mock": "requests-mock",
    "benchmark": "pytest-benchmark",
    "freezer": "pytest-freezer",
    "time_machine": "time-machine",
    "event_loop": "pytest-asyncio",
    "unused_tcp_port": "pytest-asyncio",
    "aiohttp_client": "pytest-aiohttp",
    "aiohttp_server": "pytest-aiohttp",
    "datadir": "pytest-datadir",
    "shared_datadir": "pytest-datadir",
    "lazy_datadir": "pytest-datadir",
    "data_regression": "pytest-regressions",
    "file_regression": "pytest-regressions",
    "num_regression": "pytest-regressions",
    "snapshot": "syrupy",
    "subtests": "pytest-subtests",
    "fs": "pyfakefs",
    "faker": "faker",
    "worker_id": "pytest-xdist",
    "testrun_uid": "pytest-xdist",
    "script_runner": "pytest-console-scripts",
    "socket_enabled": "pytest-socket",
    "socket_disabled": "pytest-socket",
    "qtbot": "pytest-qt",
    "db": "pytest-django",
    "client": "pytest-django",
    "settings": "pytest-django",
    "live_server": "pytest-django",
    "django_db_setup": "pytest-django",
    "vcr": "pytest-recording",
    "vcr_cassette": "pytest-vcr",
    "mocked_responses": "pytest-responses",
    "nursery": "pytest-trio",
    "autojump_clock": "pytest-trio",
    "anyio_backend": "anyio",
    "doctest_namespace": "",
    "virtualenv": "pytest-virtualenv",
    "tmp_path_retry": "",
    "check": "pytest-check",
    "cov": "pytest-cov",
    "image_diff": "pytest-image-diff",
    "smtpserver": "pytest-localserver",
    "ordered": "pytest-order",
}
MARKERS = {
    "asyncio": "pytest-asyncio",
    "asyncio_mode": "pytest-asyncio",
    "asyncio_default_fixture_loop_scope": "pytest-asyncio",
    "trio": "pytest-trio",
    "trio_mode": "pytest-trio",
    "anyio": "anyio",
    "anyio_mode": "anyio",
    "twisted": "pytest-twisted",
    "timeout": "pytest-timeout",
    "timeout_method": "pytest-timeout",
    "flaky": "flaky",
    "benchmark": "pytest-benchmark",
    "django_db": "pytest-django",
    "DJANGO_SETTINGS_MODULE": "pytest-django",
    "freeze_time": "pytest-freezer",
    "vcr": "pytest-recording",
    "datafiles": "pytest-datafiles",
    "parallel_threads": "pytest-run-parallel",
    "thread_unsafe": "pytest-run-parallel",
    "enable_socket": "pytest-socket",
    "disable_socket": "pytest-socket",
    "allow_hosts": "pytest-socket",
    "dependency": "pytest-dependency",
    "order": "pytest-order",
    "forked": "pytest-forked",
    "xdist_group": "pytest-xdist",
    "repeat": "pytest-repeat",
    "subprocess": "pytest-subprocess",
    "doctest_plus": "pytest-doctestplus",
    "env": "pytest-env",
    "xfail_strict": "",
    "memray": "pytest-memray",
    "codspeed": "pytest-codspeed",
    "console_scripts": "pytest-console-scripts",
    "script_launch_mode": "pytest-console-scripts",
    "md_report": "pytest-md-report",
    "mypy_testing": "pytest-mypy-testing",
}
OPTIONS = {
    "--asyncio-mode": "pytest-asyncio",
    "--benchmark-disable": "pytest-benchmark",
    "--benchmark-skip": "pytest-benchmark",
    "--benchmark-columns": "pytest-benchmark",
    "--benchmark-sort": "pytest-benchmark",
    "--benchmark-autosave": "pytest-benchmark",
    "--benchmark-group-by": "pytest-benchmark",
    "--ds": "pytest-django",
    "--dc": "pytest-django",
    "--reuse-db": "pytest-django",
    "--nomigrations": "pytest-django",
    "--doctest-plus": "pytest-doctestplus",
    "--doctest-rst": "pytest-doctestplus",
    "--disable-socket": "pytest-socket",
    "--allow-hosts": "pytest-socket",
    "--hypothesis-profile": "hypothesis",
    "--hypothesis-show-statistics": "hypothesis",
    "--record-mode": "pytest-recording",
    "--block-network": "pytest-recording",
    "--vcr-record": "pytest-vcr",
    "--snapshot-update": "syrupy",
    "--forked": "pytest-forked",
    "--envfile": "pytest-dotenv",
    "--mypy-ini-file": "pytest-mypy-plugins",
    "--nbval": "nbval",
    "--mpl": "pytest-mpl",
    "--arraydiff": "pytest-arraydiff",
    "--remote-data": "pytest-remotedata",
    "--import-check": "pytest-importskip",
    "--picked": "pytest-picked",
    "--markdown-docs": "pytest-markdown-docs",
    "--check-links": "pytest-check-links",
    "--codspeed": "pytest-codspeed",
}
