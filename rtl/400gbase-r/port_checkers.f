checkers/port_checker.sv
checkers/idle_meter_checker.sv
checkers/pdt_timer_checker.sv
checkers/lpi_fsm_checker.sv
checkers/histogram_window_checker.sv
checkers/counter_store_checker.sv
checkers/perfbound_checker.sv
checkers/bind.sv
