"""What several routes take: their bounds keep a request within what is stored and answered."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import Field

from told.server.memory import LATEST

ProjectKey = Annotated[str, Field("", max_length=200, description="key of the project, such as acme/shop")]
Project = Annotated[str, Query(max_length=200, description="key of the project, such as acme/shop")]
Time = Annotated[int, Field(0, ge=0, le=LATEST, description="ms since 1970")]
TimeQuery = Annotated[int, Query(ge=0, le=LATEST, description="ms since 1970")]
Limit = Annotated[int, Query(ge=1, le=500)]
