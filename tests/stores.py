"""An S3 server for tests, and what lies in it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from simcore.batches.places import BucketPath

__all__ = ["CREDENTIALS", "objects", "served"]

CREDENTIALS = {"AWS_ACCESS_KEY_ID": "somebody", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_EC2_METADATA_DISABLED": "true"}


@contextmanager
def served() -> Iterator[str]:
    """Serve S3 from this process, with a bucket ``runs``; yields the options that its addresses need.

    All servers of a process have the same contents.
    """
    server_module = pytest.importorskip("moto.server", reason="needs moto")
    from pyarrow.fs import FileSystem

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    patch = pytest.MonkeyPatch()
    for name, value in CREDENTIALS.items():
        patch.setenv(name, value)
    try:
        options = f"?endpoint_override=http://127.0.0.1:{server.get_host_and_port()[1]}&region=us-east-1"
        system, _ = FileSystem.from_uri(f"s3://runs{options}&allow_bucket_creation=true")
        system.create_dir("runs")
        yield options
    finally:
        patch.undo()
        server.stop()


def objects(place: BucketPath) -> dict[str, bytes]:
    """Return what lies below a place."""
    return {path.name: path.read_bytes() for path in place.iterdir()}
