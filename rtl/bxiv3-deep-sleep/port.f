port.v
idle_meter.v
pdt_timer.v
lpi_fsm.v
histogram_clearing.v
perfbound.v
