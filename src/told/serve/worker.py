"""The one thread that answers calls, in the order in which they came."""

from __future__ import annotations

import gc
import time
from queue import SimpleQueue
from threading import Event, Lock, Thread

from told.hook.moment import Serving
from told.serve.keeping import Kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from told.serve.guarding import Route

_WARM = "We always run the tests before a commit, never after it."


class Job:
    """A call that waits for its answer."""

    def __init__(self, route: Route, body: bytes, ends: float) -> None:
        """Take where it goes, what was said, and until when somebody listens."""
        self.route = route
        self.body = body
        self.ends = ends
        self.answer = ""
        self._open = Lock()
        self._open.acquire()

    def wait(self) -> str:
        """Return the answer; empty if there is none in time."""
        in_time = self._open.acquire(timeout=max(0.0, self.ends - time.monotonic()))
        return self.answer if in_time else ""

    def close(self) -> None:
        """Say that there will be no other answer."""
        self._open.release()


class Worker:
    """Answers calls with memories that stay open."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._kept = Kept()
        self.ready = Event()
        self._since = 0.0  # when the call began that is being answered; 0 if none is
        self._thread = Thread(target=self._work, daemon=True)
        self._thread.start()

    def ask(self, job: Job) -> str:
        """Have a call answered; empty if there is nothing to say, or no time."""
        self._jobs.put(job)
        return job.wait()

    def busy_for(self) -> float:
        """Return for how many seconds one and the same call has been answered."""
        since = self._since
        return time.monotonic() - since if since else 0.0

    def finish(self, seconds: float) -> None:
        """Answer what is waiting, and let the memories go; no longer than so many seconds."""
        self._jobs.put(None)
        self._thread.join(seconds)

    def _work(self) -> None:
        self._guarded(None)
        self.ready.set()
        while (job := self._jobs.get()) is not None:
            # One that nobody waits for any more is left to the end of the turn, which reads the transcript.
            if time.monotonic() < job.ends:
                self._guarded(job)
            job.close()
        self._kept.close()

    def _guarded(self, job: Job | None) -> None:
        self._since = time.monotonic()
        try:
            if job is None:
                self._warm_up()
            else:
                self._answer(job)
        except Exception as error:  # noqa: BLE001 - nothing that goes wrong with a call may end the service
            from told.hook.trouble import note

            note(error, self._environ)
            self._kept.close()
        finally:
            self._since = 0.0

    def _answer(self, job: Job) -> None:
        from told.hook import answer
        from told.store.memory_json import decoded

        payload = decoded(job.body.decode("utf-8", "replace").lstrip("\ufeff").strip())
        if not isinstance(payload, dict):
            return
        began = time.perf_counter()
        words = (job.route.agent, job.route.event)
        try:
            job.answer = answer(*words, payload, self._environ, Serving(self._kept.open, job.ends))
        finally:
            if self._environ.get("TOLD_DEBUG", "") not in ("", "0"):
                from told.hook.debugging import log

                log(words, payload, job.answer, (time.perf_counter() - began) * 1000, self._environ)

    def _warm_up(self) -> None:
        """Load what prompts need before the first one comes."""
        import told.hook.briefing
        import told.hook.commands
        import told.hook.prompt
        import told.hook.teaching  # noqa: F401
        from told.guard.redact import Redactor
        from told.hook.wishes import settings_of
        from told.memory.capture import capture
        from told.store.key import own_key

        settings = settings_of(self._environ)
        home = settings.home
        self._kept.open(home, hurry=True)
        capture(Redactor(own_key(home), settings.redaction).redact(_WARM))
        gc.collect()
        gc.freeze()  # what was loaded stays, and need not be looked through ever again
