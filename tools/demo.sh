#!/bin/sh
# The whole story on a real trace: one configuration file becomes Verilog; the Verilog runs cycle by
# cycle beside the golden model in every port of a switch that carries LAMMPS; then it decides
# itself, in the loop; and what it saves and costs, for every setting of the PerfBound paper, is
# drawn.
set -eu

linkdoze=$1
out=target/demo
rm -rf "$out"
mkdir -p "$out"

echo '== configuration =='
"$linkdoze" init --preset bxiv3-deep-sleep -o "$out/port.toml" --force

echo '== Verilog =='
"$linkdoze" generate "$out/port.toml" -o "$out/rtl"

echo '== estimate =='
"$linkdoze" estimate "$out/port.toml"

echo '== co-simulation: the first 50 ms of the trace, every output of 16 ports in every cycle =='
echo '   (the whole trace, 256 ms, takes about a minute: leave --cycles out)'
"$linkdoze" cosim "$out/port.toml" --scenario sim/lammps-lj-r16.toml --cycles 50000000 \
    --rtl "$out/rtl" --wave "$out/port0.fst"

for policy in perfbound perfbound-correct; do
    echo "== the whole trace under $policy, deep sleep, 2 %; the Verilog in the loop at 3 ports =="
    cat sim/lammps-lj-r16.toml - >"$out/$policy.toml" <<TOML

[power.port]
policy = "$policy"
sleep = "deep-sleep"
[power.perfbound]
bound = 0.02
TOML
    sed -i.bak "s|^file = \"|&$PWD/sim/|" "$out/$policy.toml"
    "$linkdoze" simulate "$out/$policy.toml" --rtl-ports switch0.port0,switch0.port5,nic7
done

echo '== every setting of the PerfBound paper: nine thresholds, three bounds, three histograms, two states =='
"$linkdoze" sweep sim/sweep-lammps.toml -o "$out/sweep"
"$linkdoze" report "$out/sweep" -o "$out/report.html"

echo "Verilog: $out/rtl    waveform: $out/port0.fst    report: $out/report.html"
