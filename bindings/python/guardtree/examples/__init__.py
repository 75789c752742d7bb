"""Frame evaluators and JITs to start from: each is one file, run by `python -m`."""
