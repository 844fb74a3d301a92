#!/bin/sh
# The main job on real input: one configuration file becomes Verilog, and the Verilog runs
# cycle by cycle beside the golden model in every port of a BXIv3 switch that carries the
# messages of a real LAMMPS run.
set -eu

linkdoze=$1
out=target/demo
mkdir -p "$out"

echo '== configuration =='
"$linkdoze" init --preset bxiv3-deep-sleep -o "$out/port.toml" --force

echo '== Verilog =='
"$linkdoze" generate "$out/port.toml" -o "$out/rtl"

echo '== estimate =='
"$linkdoze" estimate "$out/port.toml" | tail -n 7

echo '== co-simulation: the first 100 ms of the trace, every output of 16 ports in every cycle =='
echo '   (the whole trace, 256 ms, takes about a minute: leave --cycles out)'
"$linkdoze" cosim "$out/port.toml" --scenario sim/lammps-lj-r16.toml --cycles 100000000 \
    --rtl "$out/rtl" --wave "$out/port0.fst"

echo "Verilog: $out/rtl    estimate: linkdoze estimate $out/port.toml    waveform: $out/port0.fst"
