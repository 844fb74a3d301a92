"""What is handed over beside the Verilog, read by the tools that it is for.

Usage: run.py LINKDOZE FOLDER [--part]

For every preset, alone and as a switch of two ports: FuseSoC runs the targets of the emitted core,
a design of another folder depends on it, and the constraints reach the tools that read them. WaveDrom
draws the diagrams of the data sheet. Of the registers the SystemRDL compiler reads the emitted file,
and PeakRDL makes IP-XACT and a UVM register model of it, in which every register of the emitted page
must be found at its address. --part: one preset. FOLDER keeps what the tools write. Exit status 1 if
something is missing or wrong."""

import argparse
import json
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

import wavedrom
from systemrdl import RDLCompiler
from systemrdl.node import FieldNode, RegNode

BIN = Path(sys.executable).parent
PRESETS = "bxiv3-deep-sleep bxiv3-fast-wake bxiv3-hybrid 10gbase-t 25gbase-r 100gbase-r 400gbase-r".split()
PORTS = 2
STRIDE = 0x1000
PREFIX = "north_"
# A design of another folder that has the port inside, and nothing else.
CHIP_V = "module chip;\n  wire tx_enable;\n  {top} u_port ({pins});\nendmodule\n"
CHIP_CORE = """CAPI=2:
name: somebody:else:chip:1.0.0
filesets:
  rtl:
    files: [chip.v]
    file_type: verilogSource-2005
    depend: ["{vlnv}"]
targets:
  default: &default
    filesets: [rtl]
    toplevel: chip
  lint:
    <<: *default
    flow: lint
    flow_options: {{tool: verilator, verilator_options: [--assert]}}
"""


class Wrong(Exception):
    """Something that is handed over is not as it should be."""


def command(*words):
    """What a command prints."""
    words = [str(word) for word in words]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise Wrong(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


class FuseSoC:
    """FuseSoC with the cores of some folders, and nothing of whoever runs it."""

    def __init__(self, folder, *roots):
        (folder / "fusesoc.conf").write_text("[main]\n")
        self.words = [BIN / "fusesoc", "--config", folder / "fusesoc.conf"]
        for root in roots:
            self.words += ["--cores-root", root]
        self.build = folder / "build"

    def run(self, core, target, *options):
        """Runs a target; what it prints."""
        where = ["--build-root", self.build, f"--target={target}"]
        return command(*self.words, "run", *where, *options, core)

    def made(self, core, target):
        """The files of a target that FuseSoC wrote, as one text."""
        folder = self.build / core.replace(":", "_") / target
        ends = {".vc", ".tcl", ".mk", ""}
        files = sorted(path for path in folder.iterdir() if path.is_file() and path.suffix in ends)
        return "".join(path.read_text(errors="replace") for path in files)


def name_of(core):
    """The name that a core gives itself."""
    return re.search(r"^name: (\S+)$", core.read_text(), re.MULTILINE)[1]


def targets(folder, core):
    """Runs the targets of a core. What it says of each."""
    emitted = core.parent
    name, top = name_of(core), core.stem
    fusesoc = FuseSoC(folder, emitted)
    fusesoc.run(name, "lint")
    said = []
    for target in ["sim", "sim_icarus"]:
        printed = fusesoc.run(name, target)
        found = re.search(rf"^{top}_smoke: passed.*$", printed, re.MULTILINE)
        if not found:
            raise Wrong(f"{core}: target {target} does not say that it passed\n{printed}")
        said.append(f"{target} {found[0].split(': ', 1)[1]}")
    has_checkers = "checkers/bind.sv" in fusesoc.made(name, "sim")
    if has_checkers != (emitted / "checkers/bind.sv").exists():
        raise Wrong(f"{core}: target sim goes without the checkers")
    for tool, end in [("vivado", "xdc"), ("quartus", "sdc"), ("trellis", "lpf")]:
        fusesoc.run(name, "synth", "--setup", f"--tool={tool}")
        if f"{top}.{end}" not in fusesoc.made(name, f"synth-{tool}"):
            raise Wrong(f"{core}: {top}.{end} does not reach {tool}")
    return said


def depend(folder, core):
    """A design that depends on the core gets the Verilog, and the checkers if it asks for them."""
    name, top = name_of(core), core.stem
    chip = folder / "chip"
    chip.mkdir(exist_ok=True)
    text = (core.parent / f"{top}.v").read_text()
    pins = re.findall(r"^ +(?:input|output) +wire +(?:\[[0-9:]+\])? *(\w+)", text, re.MULTILINE)
    connected = ", ".join(f".{pin}({'tx_enable' if pin == 'tx_enable' else ''})" for pin in pins)
    (chip / "chip.v").write_text(CHIP_V.format(top=top, pins=connected))
    (chip / "chip.core").write_text(CHIP_CORE.format(vlnv=name))
    fusesoc = FuseSoC(folder, core.parent, chip)
    chip_name = name_of(chip / "chip.core")
    for options, wanted in [((), False), (("--flag=linkdoze_checkers",), True)]:
        fusesoc.run(chip_name, "lint", "--setup", *options)
        listed = fusesoc.made(chip_name, "lint")
        if f"/{top}.v\n" not in listed or ("checkers/bind.sv" in listed) != wanted:
            raise Wrong(f"{core}: a design that depends on it gets the wrong files\n{listed}")


def pages(page):
    """The registers of the emitted page in Markdown: title of a page to names and offsets."""
    found, title = {}, None
    for line in page.read_text().splitlines():
        if line.startswith("## "):
            title = found.setdefault(line[3:], {})
        row = re.match(r"\| `(0x[0-9a-f]+)` \| `(\w+)` \|", line)
        if row and title is not None:
            title[row[2]] = int(row[1], 16)
    return found


def registers(linkdoze, emitted, folder):
    """IP-XACT and UVM of the registers. How many there are."""
    source = next(emitted.glob("*_registers.rdl"))
    wanted = pages(source.with_suffix(".md"))
    port, common = wanted["Page of a port"], wanted["Page of all ports"]
    everywhere = {(f"port[{k}].{n}", k * STRIDE + at) for k in range(PORTS) for n, at in port.items()}
    everywhere |= {(f"all_ports.{name}", PORTS * STRIDE + at) for name, at in common.items()}

    compiler = RDLCompiler()
    compiler.compile_file(str(source))
    top = compiler.elaborate().top
    nodes = [node for node in top.descendants(unroll=True) if isinstance(node, RegNode)]
    read = {(node.get_rel_path(top), node.absolute_address) for node in nodes}
    if read != everywhere:
        raise Wrong(f"{source}: the SystemRDL compiler reads {sorted(read ^ everywhere)} otherwise")

    ipxact, uvm = folder / "registers.xml", folder / "registers_uvm.sv"
    version = command(linkdoze, "--version").split()[1]
    names = ["--vendor", "linkdoze", "--library", "power", "--version", version]
    command(BIN / "peakrdl", "ip-xact", source, "-o", ipxact, *names)
    command(BIN / "peakrdl", "uvm", source, "-o", uvm)
    found = set()
    root = xml.parse(ipxact).getroot()
    spaces = {"x": re.match(r"\{(.*)\}", root.tag)[1]}

    def number(node, path, default="0"):
        text = node.findtext(f"x:{path}", default, spaces)
        return int(text.replace("'h", "0x"), 0)

    for file in root.iterfind(".//x:registerFile", spaces):
        name, size = file.findtext("x:name", "", spaces), number(file, "range")
        count = number(file, "dim", "1")
        for k in range(count):
            begin = f"{name}[{k}]" if file.find("x:dim", spaces) is not None else name
            for register in file.iterfind("x:register", spaces):
                at = number(file, "addressOffset") + k * size + number(register, "addressOffset")
                found.add((f"{begin}.{register.findtext('x:name', '', spaces)}", at))
    if found != everywhere:
        raise Wrong(f"{ipxact}: {sorted(found ^ everywhere)} differ from the emitted page")
    # What tests of registers leave out: a write of any value would be refused, or ask for something.
    fields = [node for node in top.descendants() if isinstance(node, FieldNode)]
    untested = {
        (field.parent.inst_name, field.inst_name)
        for field in fields
        if field.get_property("donttest")
    }
    told = {
        (register.findtext("x:name", "", spaces), field.findtext("x:name", "", spaces))
        for register in root.iterfind(".//x:register", spaces)
        for field in register.iterfind("x:field", spaces)
        if field.findtext("x:testable", "", spaces) == "false"
    }
    if told != untested or ("command", "apply") not in untested:
        raise Wrong(f"{ipxact}: {sorted(told ^ untested)} are to be tested in one and not in the other")
    text = uvm.read_text()
    for regfile, known in [("port_page", port), ("all_page", common)]:
        body = re.search(rf"class \S*{regfile} extends.*?endclass", text, re.DOTALL)
        added = re.findall(r"add_reg\(this\.(\w+), (?:\d+)?'h([0-9a-f]+)", body[0]) if body else []
        if {name: int(at, 16) for name, at in added} != known:
            raise Wrong(f"{uvm}: {regfile} has other registers than the emitted page")
    return len(everywhere)


def diagrams(linkdoze, configuration, folder, count):
    """WaveDrom draws the diagrams of the data sheet. How many there are."""
    sheet = folder / "datasheet.md"
    command(linkdoze, "datasheet", configuration, "-o", sheet, *count)
    sources = re.findall(r"^```wavedrom\n(.*?)^```", sheet.read_text(), re.MULTILINE | re.DOTALL)
    for source in sources:
        drawn = wavedrom.render(source).tostring()
        lanes = [lane["name"] for lane in json.loads(source)["signal"]]
        missing = [lane for lane in lanes if f">{lane}<" not in drawn]
        if missing or xml.fromstring(drawn).tag.rsplit("}")[-1] != "svg":
            raise Wrong(f"{sheet}: WaveDrom does not draw {missing}")
    if len(sources) != 2:
        raise Wrong(f"{sheet}: {len(sources)} timing diagrams, not 2")
    return len(sources)


def check(linkdoze, folder, preset, ports):
    """All checks of one configuration. A line that says what was found."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    configuration, emitted = folder / "port.toml", folder / "emitted"
    command(linkdoze, "init", "--preset", preset, "-o", configuration)
    prefix = PREFIX if ports else ""
    with configuration.open("a") as text:
        text.write(f'\n[verilog]\nmodule_prefix = "{prefix}"\n' if prefix else "")
    count = ["--ports", PORTS] if ports else []
    command(linkdoze, "-q", "generate", configuration, "-o", emitted, *count)
    core = next(emitted.glob("*.core"))
    top = prefix + ("switch_ports" if ports else "port")
    if not re.fullmatch(rf"linkdoze:power:{top}:\d+\.\d+\.\d+", name_of(core)):
        raise Wrong(f"{core}: is called {name_of(core)}")
    said = targets(folder, core)
    depend(folder, core)
    said.append(f"diagrams {diagrams(linkdoze, configuration, folder, count)} in WaveDrom")
    if ports:
        said.append(f"registers {registers(linkdoze, emitted, folder)} in IP-XACT and UVM")
    return "; ".join(said)


def main():
    """Runs all, or a part."""
    parser = argparse.ArgumentParser()
    parser.add_argument("linkdoze", type=lambda path: Path(path).resolve())
    parser.add_argument("folder", type=Path)
    parser.add_argument("--part", action="store_true")
    arguments = parser.parse_args()
    presets = ["bxiv3-hybrid"] if arguments.part else PRESETS
    wrong = 0
    for preset in presets:
        for ports in [False, True]:
            run = preset + (f"-{PORTS}-ports" if ports else "")
            try:
                said = check(arguments.linkdoze, arguments.folder / run, preset, ports)
                print(f"{run}: {said}", flush=True)
            except Wrong as error:
                wrong += 1
                print(f"{run}: WRONG: {error}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
