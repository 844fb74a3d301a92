# Timing of module port as a block of an ASIC: Synopsys Design Constraints, for static
# timing, synthesis and layout; Quartus reads them, too. All times are in ns. A tool that
# takes the unit of its cell library must be set to ns first (OpenSTA:
# set_cmd_units -time ns).
#
# Emitted by linkdoze 0.1.0; change the configuration rather than this file.
# SHA-256 of the configuration: c92336abb6fa41ae9cb928003adec668803f02cf12e93090c7d6e7360256b75e

# The clock, with [clock] period_ps of the configuration: the block counts all times in it.
# Jitter and skew depend on the technology: the flow adds its own set_clock_uncertainty.
create_clock -name clk -period 2 [get_ports {clk}]

# Inputs come from registers of the same clock, and no path leads through the block from
# pin to pin. Half of the period passes outside, register and wires included; the other
# half is the block's. No input changes before the edge.
# rst is synchronous: an input like the others, without recovery and removal.
set inputs [get_ports {
    rst queue_nonempty transmitting packet_valid packet_hops[*]
}]
set_input_delay -clock clk -max 1 $inputs
set_input_delay -clock clk -min 0 $inputs

# Outputs depend on registers of the block alone and lead to registers of the same clock,
# through half a period of wires and logic at most, and none at least.
set outputs [get_ports {
    tx_enable power_state[*] lpi_request hit miss t_pdt[*] update t_pb[*] window[*] budget[*]
}]
set_output_delay -clock clk -max 1 $outputs
set_output_delay -clock clk -min 0 $outputs
