#!/bin/sh
# Two ports on a cable, Verilog beside golden model, at every delay from 0 to 2000 clock
# cycles: every preset, undisturbed and with each way of disturbing the link.
set -eu
linkdoze=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for preset in $("$linkdoze" presets | cut -d' ' -f1); do
  "$linkdoze" init --preset "$preset" -o "$folder/$preset.toml" >/dev/null
  for peer in answers silent stops resets; do
    echo "$preset, the other end $peer"
    if ! "$linkdoze" cosim "$folder/$preset.toml" --pair --peer $peer >"$folder/report"; then
      cat "$folder/report"
      exit 1
    fi
    tail -n 5 "$folder/report"
  done
done
