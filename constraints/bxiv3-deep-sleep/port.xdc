# Timing of module port for Vivado, synthesised or placed by itself:
#   read_xdc -mode out_of_context port.xdc
# Do not read it when the block is part of a larger design, which knows the clock and what
# surrounds the block.
#
# Emitted by linkdoze 0.1.0; change the configuration rather than this file.
# SHA-256 of the configuration: ab2ac361881000537561263568972299b56920643739be3326eec91869cba9bf

# The clock, with [clock] period_ps of the configuration: the block counts all times in it.
# Jitter and skew depend on the technology: the flow adds its own set_clock_uncertainty.
create_clock -name clk -period 1 [get_ports {clk}]

# Inputs come from registers of the same clock, and no path leads through the block from
# pin to pin. Half of the period passes outside, register and wires included; the other
# half is the block's. No input changes before the edge.
# rst is synchronous: an input like the others, without recovery and removal.
set inputs [get_ports {
    rst queue_nonempty transmitting receiving packet_valid packet_hops[*] initiator message_in[*]
}]
set_input_delay -clock clk -max 0.5 $inputs
set_input_delay -clock clk -min 0 $inputs

# Outputs depend on registers of the block alone and lead to registers of the same clock,
# through half a period of wires and logic at most, and none at least.
set outputs [get_ports {
    tx_enable power_state[*] hit miss t_pdt[*] update t_pb[*] window[*] budget[*] message_out[*]
    sync_error
}]
set_output_delay -clock clk -max 0.5 $outputs
set_output_delay -clock clk -min 0 $outputs

# A strap: tied high at one end of the link, low at the other. It never changes while the
# block is out of reset, so that no register has to catch a change.
set_false_path -from [get_ports {
    initiator
}]
