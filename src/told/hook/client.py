"""Send one hook call to told's service and print its answer.

Runs as `python -I -S client.py AGENT EVENT [FOLDER ...]` and always exits with 0. Every prompt waits for it,
so it imports only what is built into the interpreter, and `_socket`. Without a service it answers in a child
process with ordinary imports; FOLDERs contain dependencies that are not installed beside told.
"""

import _socket
import os
import sys
import time

PROTOCOL = b"told1"
LIMITS = {"start": 3.0, "compact": 3.0, "compacted": 3.0, "helper": 3.0, "stop": 3.0}  # seconds; others 1
LARGEST = 4_000_000  # bytes of a call
_LONGEST = 60  # seconds until the process ends even if stdin stays open
# Endings of variables that are sent: folders, versions, and whether a user is there; never keys.
_SENT = (
    "HOME", "_DIR", "_CONFIG", "_VERSION", "PROFILE", "APPDATA", "_PATHS", "_AUTH_SOCK", "_ENTRYPOINT",
    "_SESSION_ATTENDED",
)  # fmt: skip
WITHHELD = "\1"  # sent by commands in place of a value that could be a secret


def main(agent: str, event: str, *folders: str) -> bytes:
    """Return what to print for the call on standard input."""
    raw = b""
    while len(raw) <= LARGEST and (part := os.read(0, 1 << 20)):
        raw += part
    read_at = time.monotonic()
    # Qwen Code reports an empty prompt after each tool call. Quotes in a text are escaped, so this is a key.
    is_empty = (b'"prompt":""' in raw or b'"prompt": ""' in raw) and b"submitted_prompt" not in raw
    if not raw or len(raw) > LARGEST or (event == "prompt" and is_empty and b"user_prompt" not in raw):
        return b""
    chosen = os.environ.get("TOLD_HOOK_SECONDS", "")
    ends = read_at + (int(chosen) if chosen.isdigit() else LIMITS.get(event, 1.0))
    try:
        answer = ask_service(agent, event, raw, read_at, ends)
        return answer_here(agent, event, raw, ends, folders) if answer is None else answer
    except TimeoutError:
        is_command = event == "prompt" and b"/mem:" in raw  # always gets an answer
        return bytes(import_local(folders).late_answer(agent, event, raw)) if is_command else b""


def socket_paths(home: str) -> "list[str]":
    """Return where a home's service may listen, most likely first."""
    number = int.from_bytes(os.fsencode(os.path.realpath(home)), "big") % (2**61 - 1)
    name = f"told-{os.getuid()}-{number:x}/service.sock"
    paths = [f"{home}/run/service.sock", f"/run/user/{os.getuid()}/{name}", f"/tmp/{name}"]  # noqa: S108
    return [path for path in paths if len(os.fsencode(path)) <= 100]  # systems allow 104 or 108 bytes


def ask_service(agent: str, event: str, raw: bytes, read_at: float, ends: float) -> "bytes | None":
    """Return the service's answer to a hook call; None if no service can be reached."""

    def encode(token: str) -> bytes:
        sent = [f"{k}={v}" for k, v in os.environ.items() if is_sent(k)]
        head = os.fsencode("\0".join([agent, event, token, f"{read_at:.6f}", os.getcwd(), *sent]))
        return b"%s hook %d %d\n%s%s" % (PROTOCOL, len(head), len(raw), head, raw)

    return exchange(encode, ends)


def is_sent(name: str) -> bool:
    """Tell whether the service is told the value of a variable."""
    return name[:5] == "TOLD_" or name.endswith(_SENT)


def exchange(encode, ends: float) -> "bytes | None":  # type: ignore[no-untyped-def]  # noqa: ANN001
    """Send the request that `encode` makes with a token; None if no service can be reached."""
    user = os.environ.get("HOME") or os.environ.get("USERPROFILE") or os.sep
    home = os.path.abspath(os.path.expanduser(os.environ.get("TOLD_HOME") or f"{user}/.told"))
    token = ""
    addresses: list[str | tuple[str, int]] = []
    if sys.platform != "win32":
        addresses += socket_paths(home)
    elif os.path.exists(f"{home}/run/service.port"):
        with open(f"{home}/run/service.port", encoding="ascii") as file:
            port, token = file.read(200).split()
        addresses += [("127.0.0.1", int(port))]
    for address in addresses:
        try:
            connection = _socket.socket(_socket.AF_INET if token else _socket.AF_UNIX, _socket.SOCK_STREAM)
            connection.settimeout(max(0.01, ends - time.monotonic()))
            connection.connect(address)
            if token or is_own(connection):
                connection.sendall(encode(token))
                return receive(connection, ends)
        except TimeoutError:
            raise
        except OSError:
            continue  # not there, or killed while it answered
    return None


def is_own(connection: _socket.socket) -> bool:
    """Tell whether a Unix socket's other end has the same user."""
    option = (1, 17, 12) if sys.platform == "linux" else (0, 1, 12)  # SO_PEERCRED, or LOCAL_PEERCRED
    return int.from_bytes(connection.getsockopt(*option)[4:8], sys.byteorder) == os.getuid()


def receive(connection: _socket.socket, ends: float) -> "bytes | None":
    """Return a complete answer; None if the other end is gone before."""
    data = b""
    while True:
        head, newline, body = data.partition(b"\n")
        if newline and not head.startswith(PROTOCOL + b" "):
            return None
        if newline and len(body) >= int(head.split()[1]):
            return body
        connection.settimeout(max(0.001, ends - time.monotonic()))
        part = connection.recv(1 << 16)
        if not part:
            return None
        data += part


def answer_here(agent: str, event: str, raw: bytes, ends: float, folders: "tuple[str, ...]") -> bytes:
    """Answer without a service, in a child that may outlive this process."""
    if not hasattr(os, "fork"):
        return bytes(import_local(folders).answer_in_thread(agent, event, raw, ends))
    ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
    child = os.fork()
    if not child:
        ours.close()
        os.setsid()
        for stream in (0, 1, 2):
            os.dup2(os.open(os.devnull, os.O_RDWR), stream)
        import_local(folders).answer_in_child(theirs.detach(), agent, event, raw, ends)
    theirs.close()
    write(receive(ours, ends) or b"")
    while time.monotonic() < ends and not os.waitpid(child, os.WNOHANG)[0]:  # it notes what it handed over
        time.sleep(0.001)
    return b""


def import_local(folders: "tuple[str, ...]"):  # type: ignore[no-untyped-def]  # noqa: ANN201
    """Return the module that answers without a service."""
    sys.path[:0] = [os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), *folders]
    from told.service import local  # noqa: PLC0415 - loads the rest of told

    return local


def write(answer: bytes) -> None:
    """Write to standard output, however much a pipe takes at a time."""
    while answer:
        answer = answer[os.write(1, answer) :]


if __name__ == "__main__":
    try:
        import _signal  # type: ignore[import-not-found]

        if hasattr(_signal, "alarm"):
            _signal.signal(_signal.SIGALRM, lambda *_: os._exit(0))
            _signal.alarm(_LONGEST)
        write(main(*sys.argv[1:]))
    except BaseException:  # noqa: BLE001, S110 - some agents treat a failing hook as a veto
        pass
    os._exit(0)
