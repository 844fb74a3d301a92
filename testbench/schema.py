"""Validates the configurations, scenarios and sweeps of the repository with their JSON Schemas."""

import json
import pathlib
import sys
import tomllib

from jsonschema import Draft202012Validator

FOLDER = pathlib.Path(sys.argv[1])
VALIDATORS = {}
for kind in ("port", "scenario", "sweep"):
    schema = json.loads((FOLDER / f"{kind}.json").read_text())
    Draft202012Validator.check_schema(schema)
    VALIDATORS[kind] = Draft202012Validator(schema)


def kind_of(path):
    """The kind of a file in sim/, by its name."""
    if path.name.startswith("sweep-"):
        return "sweep"
    return "port" if "-port" in path.name else "scenario"


FILES = [("port", path) for path in sorted(pathlib.Path("src/config/presets").glob("*.toml"))]
FILES += [(kind_of(path), path) for path in sorted(pathlib.Path("sim").glob("*.toml"))]

# What the readers accept, and what they refuse.
GOOD = [
    ("port", ""),
    ("port", '[states.fast-wake]\nt_w_ns = "4.5 us"\npower_w = "500 mW"'),
    ("port", '[port]\nt_backstop_ns = "off"\n[perfbound]\nbound = "2 %"\nhops = "measured"'),
    ("scenario", '[traffic]\n[[traffic.jobs]]\nfile = "a"\nmapping = [1, 2]\n'),
    ("scenario", '[topology]\nkind = "torus"\ndims = [4, 4]\n[traffic]\nkind = "uniform"'),
    ("scenario", '[power.port]\npolicy = "fixed"\n[run]\nduration_ns = "1ms"'),
    ("scenario", '[power]\ncontroller = "port.toml"'),
    ("sweep", 'scenario = "a"\n[vary]\nload = [0.1, "30 %"]'),
]
BAD = [
    ("port", "[port]\ntime_width = 7"),
    ("port", "[port]\ntimewidth = 32"),
    ("port", "[prot]\ntime_width = 32"),
    ("port", '[port]\npolicy = "perfbuond"'),
    ("port", "[perfbound]\nbound = 2"),
    ("port", '[states.fast-wake]\nt_w_ns = "4.5 parsecs"'),
    ("port", "[perfbound]\nhops = [[4, 70]]"),
    ("scenario", '[traffic]\nkind = "uniform"\nload = 30'),
    ("scenario", '[traffic]\nkind = "uniform"\nfile = "a"'),
    ("scenario", '[topology]\nkind = "torus"\nnodes = 4'),
    ("scenario", "[power.port]\npolcy = 1"),
    ("scenario", "[[traffic.jobs]]\ncopies = 2"),
    ("sweep", 'states = ["hybrid"]'),
    ("sweep", 'scenario = "a"\n[perfbound]\nbound = [0.1]'),
]

wrong = 0
for kind, path in FILES:
    for error in VALIDATORS[kind].iter_errors(tomllib.loads(path.read_text())):
        print(f"{path}: {error.json_path}: {error.message}")
        wrong += 1
for expected, texts in ((True, GOOD), (False, BAD)):
    for kind, text in texts:
        if VALIDATORS[kind].is_valid(tomllib.loads(text)) != expected:
            print(f"{kind}: {'refused' if expected else 'accepted'}: {text!r}")
            wrong += 1
print(f"schema: {len(FILES)} files valid, {len(BAD)} faulty texts refused" if not wrong else "schema: FAILED")
sys.exit(1 if wrong else 0)
