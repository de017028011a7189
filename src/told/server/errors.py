"""Answer errors with a status and one sentence."""

from __future__ import annotations

from typing import Any

import psycopg
from fastapi import FastAPI, Request
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field

from told.errors import BusyError, DiskFullError, MissingError, NotFoundError, ToldError, UsageError
from told.jsontext import dump_json
from told.text import fix_surrogates

_STATUS: tuple[tuple[type[ToldError], int], ...] = (
    (UsageError, 400), (NotFoundError, 404), (DiskFullError, 507), (BusyError, 503), (MissingError, 409),
)  # fmt: skip


_MAX_ERRORS = 20  # of one request that are described
_MAX_INPUT = 1000  # characters of a wrong value that are shown


class Problem(BaseModel):
    """Why a request is refused, or cannot be answered now."""

    detail: str = Field(description="one sentence that says what to do")


# How every route may answer beside its own answers.
RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": says}
    for status, says in {
        400: "The request cannot be done as it is.",
        401: "The token is missing, wrong, expired or revoked.",
        403: "Your role does not allow this.",
        404: "There is none, or you may not see it.",
        409: "It does not fit the present state.",
        413: "The body is too large.",
        421: "The server has another name.",
        429: "Too many requests: retry after the seconds of `retry-after`.",
        503: "The database is away: retry after the seconds of `retry-after`.",
        507: "The disk of the database is full.",
    }.items()
}


def status_of(error: ToldError) -> int:
    """Return the HTTP status of an error."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def _shorten(error: dict[str, Any]) -> dict[str, Any]:
    """Return what is wrong with a field, without a value that is too long to read."""
    if len(str(error.get("input"))) <= _MAX_INPUT:
        return error
    return {name: one for name, one in error.items() if name != "input"}


def add_error_handlers(app: FastAPI) -> None:
    """Turn told's errors, and values that PostgreSQL cannot store, into answers."""

    @app.exception_handler(ToldError)
    def on_told_error(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, ToldError)
        headers = {"retry-after": "1"} if isinstance(error, BusyError) else None
        return JSONResponse({"detail": str(error)}, status_of(error), headers)

    @app.exception_handler(RequestValidationError)
    def on_invalid(_: Request, error: Exception) -> Response:
        """Answer as FastAPI does, but also if the request has what no JSON may have."""
        assert isinstance(error, RequestValidationError)
        errors = [_shorten(one) for one in error.errors()[:_MAX_ERRORS]]
        body = fix_surrogates(dump_json({"detail": jsonable_encoder(errors)}))
        return Response(body, 422, media_type="application/json")

    def on_bad_value(_: Request, error: Exception) -> JSONResponse:
        why = "a character" if isinstance(error, UnicodeError) else "a value"
        return JSONResponse({"detail": f"The request has {why} that cannot be stored."}, 400)

    app.add_exception_handler(psycopg.DataError, on_bad_value)
    app.add_exception_handler(UnicodeError, on_bad_value)
