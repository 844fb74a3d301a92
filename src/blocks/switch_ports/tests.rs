//! The space of several ports: every address reaches its port, and no other.

use super::SwitchPorts;
use crate::blocks::csr::map;
use crate::blocks::csr::tests::plan;
use crate::config::plan::{HistogramKind, Policy, SyncPlan};
use crate::hdl::check;
use crate::hdl::sim::Simulator;

struct Bench(Simulator<SwitchPorts>);

impl Bench {
    fn new(ports: u32) -> Self {
        let block = SwitchPorts::new(&plan(Policy::PerfBound, 24), ports);
        let mut bench = Bench(Simulator::new(block).unwrap());
        bench.set("rst", 1);
        bench.clock();
        bench.set("rst", 0);
        bench.set("s_axi_bready", 1);
        bench.set("s_axi_rready", 1);
        bench
    }

    fn set(&mut self, pin: &str, value: u32) {
        self.0.set(pin, value.into()).unwrap();
    }

    fn get(&self, pin: &str) -> u32 {
        u32::try_from(self.0.get(pin).unwrap()).unwrap()
    }

    fn clock(&mut self) {
        self.0.settle().unwrap();
        self.0.rising_edge().unwrap();
        self.0.settle().unwrap();
    }

    /// Data and answer.
    fn read(&mut self, address: u32) -> (u32, u32) {
        self.set("s_axi_arvalid", 1);
        self.set("s_axi_araddr", address);
        self.clock();
        self.set("s_axi_arvalid", 0);
        while self.get("s_axi_rvalid") == 0 {
            self.clock();
        }
        let answer = (self.get("s_axi_rdata"), self.get("s_axi_rresp"));
        self.clock();
        answer
    }

    fn write(&mut self, address: u32, data: u32) -> u32 {
        for (pin, value) in [
            ("s_axi_awvalid", 1),
            ("s_axi_awaddr", address),
            ("s_axi_wvalid", 1),
            ("s_axi_wdata", data),
            ("s_axi_wstrb", 15),
        ] {
            self.set(pin, value);
        }
        self.clock();
        self.set("s_axi_awvalid", 0);
        self.set("s_axi_wvalid", 0);
        while self.get("s_axi_bvalid") == 0 {
            self.clock();
        }
        let answer = self.get("s_axi_bresp");
        self.clock();
        answer
    }
}

#[test]
fn every_address_reaches_its_port_alone() {
    let ports = 3;
    let mut bench = Bench::new(ports);
    let page = map::port(&plan(Policy::PerfBound, 24));
    let bound = page.register("bound").offset;
    for port in 0..ports {
        assert_eq!(bench.read(port * map::STRIDE), (map::MAGIC, 0));
        assert_eq!(bench.write(port * map::STRIDE + bound, 1000 + port), 0);
    }
    for port in 0..ports {
        assert_eq!(bench.read(port * map::STRIDE + bound), (1000 + port, 0));
    }
    // Neither a port nor the page of all.
    assert_eq!(bench.read(3 * map::STRIDE), (0, 3));
    assert_eq!(bench.write(3 * map::STRIDE + bound, 1), 3);
    let all = map::global_offset(ports);
    assert_eq!(all, 4 * map::STRIDE);
    for register in map::all_ports(&plan(Policy::PerfBound, 24), ports).registers {
        assert_eq!(bench.read(all + register.offset), (register.reset(), 0));
        assert_eq!(bench.write(all + register.offset, 1), 2);
    }
    assert_eq!(bench.read(all + 0x100), (0, 3));
    assert_eq!(bench.read(all + map::STRIDE), (0, 3));
}

#[test]
fn emitted_verilog_agrees_with_the_description() {
    let mut plan = plan(Policy::PerfBound, 24);
    check::agrees_with_verilog(|| SwitchPorts::new(&plan, 2), 2000, 5).unwrap();
    plan.sync = Some(SyncPlan { timeout: 50 });
    plan.histogram.kind = HistogramKind::Decaying;
    check::agrees_with_verilog(|| SwitchPorts::new(&plan, 3), 1000, 5).unwrap();
}

#[test]
fn emitted_verilog_is_lint_clean() {
    for (ports, messages) in [(1, false), (16, true), (64, false)] {
        let mut plan = plan(Policy::PerfBound, 40);
        plan.sync = messages.then_some(SyncPlan { timeout: 50 });
        let design = crate::hdl::elaborate(&SwitchPorts::new(&plan, ports)).unwrap();
        let header = crate::hdl::verilog::Header::for_tests();
        check::lints(&crate::hdl::verilog::print(&design, &header)).unwrap();
    }
}
