"""Archives as an index has them."""

import gzip
import io
import tarfile


def sdist(version="1.0", others=None):
    buffer = io.BytesIO()
    compressed = gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0)
    with compressed, tarfile.open(fileobj=compressed, mode="w") as archive:
        for name, data in {
            "PKG-INFO": b"Metadata-Version: 2.4\nLicense-Expression: MIT\n",
            "thing.py": b"x = 1\r\n",
            **(others or {}),
        }.items():
            info = tarfile.TarInfo(f"thing-{version}/{name}")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()
