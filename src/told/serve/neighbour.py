"""Whose process is at the other end of a connection, where the system tells: only the user's own counts."""

from __future__ import annotations

import os
import struct
import sys
from socket import AF_INET, IPPROTO_TCP, SOCK_RAW, inet_aton, socket

_FAMILY, _ASK, _WAIT = 4, 20, 0.05  # of Linux: sock_diag, a question by family; seconds
_LOOPBACK = inet_aton("127.0.0.1") + bytes(12)
_HEAD = "=IHHII"
_ANY = struct.pack("=III", 0, 0xFFFFFFFF, 0xFFFFFFFF)  # every interface, every cookie


def is_another_users(connection: socket) -> bool:
    """Tell whether a connection comes from a process of somebody else's, as far as can be known.

    The token stands in an agent's settings, and is as safe from others as that file; this does not need it.
    """
    if sys.platform != "linux":
        return False
    try:
        uid = _uid(connection.getpeername()[1], connection.getsockname()[1])
    except (OSError, struct.error):
        return False
    return uid is not None and uid != os.getuid()


def _uid(theirs: int, ours: int) -> int | None:
    ends = struct.pack("!HH", theirs, ours) + _LOOPBACK + _LOOPBACK + _ANY
    asked = struct.pack("=BBBBI", AF_INET, IPPROTO_TCP, 0, 0, 0xFFFFFFFF) + ends
    with socket(16, SOCK_RAW, _FAMILY) as kernel:  # AF_NETLINK, which not every system has a name for
        kernel.settimeout(_WAIT)
        kernel.send(struct.pack(_HEAD, 16 + len(asked), _ASK, 1, 0, 0) + asked)
        said = kernel.recv(4096)
    if struct.unpack_from(_HEAD, said)[1] != _ASK:
        return None
    uid: int = struct.unpack_from("=IIIII", said, 16 + 4 + 48)[3]
    return uid
