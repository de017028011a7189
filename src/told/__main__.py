"""`python -m told`."""

from told.cli.main import run

if __name__ == "__main__":
    run()
