"""Forgetting while the service runs: it keeps nothing, and the next hook works as before."""

from __future__ import annotations

import json

from tests.service.house import House, until
from told.cli.main import main
from told.service.state import READY, put_missed

SAID = "Remember: the launch is called Blue Zebrafish 778199235, on port 4711."
WORDS = (b"zebrafish", b"778199235")


def left(house: House) -> list[str]:
    files = [path for path in house.home.rglob("*") if path.is_file()]
    return [path.name for path in files if any(word in path.read_bytes().lower() for word in WORDS)]


def test_forget_ends_the_service_and_what_it_still_wrote(house: House) -> None:
    house.serve()
    assert house.prompt(SAID).code == 0
    assert "Zebrafish" in house.prompt("On which port is the launch called Blue Zebrafish?", "s-2").text
    put_missed(str(house.home), "s3", READY, text="Context: the launch is called Blue Zebrafish.")
    (memory,) = [one["id"] for one in house.memories() if "Zebrafish" in one["text"]]
    assert left(house)
    assert main(["forget", memory, "--force"], house.environ) == 0
    assert until(lambda: not house.processes())
    assert left(house) == []
    answer = house.prompt("On which port is the launch called Blue Marlin?", "s-4")
    assert (answer.code, "Zebrafish" in json.dumps(answer.out)) == (0, False)
    assert house.texts() == []
