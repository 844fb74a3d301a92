checkers/port_checker.sv
checkers/lpi_fsm_checker.sv
checkers/bind.sv
