//! The space of several ports: every address reaches its port, and no other.

use super::SwitchPorts;
use crate::blocks::csr::map;
use crate::blocks::csr::tests::plan;
use crate::blocks::testing::{cycles, Bench};
use crate::config::plan::{HistogramKind, MessagesPlan, Policy, SyncPlan};
use crate::hdl::check;

fn bench(ports: u32) -> Bench {
    let mut bench = Bench::new(SwitchPorts::new(&plan(Policy::PerfBound, 24), ports));
    bench.drive(&[("s_axi_bready", 1), ("s_axi_rready", 1)]);
    bench
}

impl Bench {
    fn next(&mut self, pins: &[(&str, u64)]) {
        self.clock();
        self.drive(pins);
    }

    /// Data and answer.
    fn read(&mut self, address: u32) -> (u32, u32) {
        self.drive(&[("s_axi_arvalid", 1), ("s_axi_araddr", address.into())]);
        self.next(&[("s_axi_arvalid", 0)]);
        while self.get("s_axi_rvalid") == 0 {
            self.next(&[]);
        }
        let answer = ["s_axi_rdata", "s_axi_rresp"].map(|pin| self.get(pin) as u32);
        self.next(&[]);
        answer.into()
    }

    fn write(&mut self, address: u32, data: u32) -> u32 {
        self.drive(&[
            ("s_axi_awvalid", 1),
            ("s_axi_awaddr", address.into()),
            ("s_axi_wvalid", 1),
            ("s_axi_wdata", data.into()),
            ("s_axi_wstrb", 15),
        ]);
        self.next(&[("s_axi_awvalid", 0), ("s_axi_wvalid", 0)]);
        while self.get("s_axi_bvalid") == 0 {
            self.next(&[]);
        }
        let answer = self.get("s_axi_bresp") as u32;
        self.next(&[]);
        answer
    }
}

#[test]
fn every_address_reaches_its_port_alone() {
    let ports = 3;
    let mut bench = bench(ports);
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
    check::agrees_with_verilog(|| SwitchPorts::new(&plan, 2), cycles(2000), 5).unwrap();
    plan.sync = SyncPlan::Messages(MessagesPlan { timeout: 50 });
    plan.histogram.kind = HistogramKind::Decaying;
    check::agrees_with_verilog(|| SwitchPorts::new(&plan, 3), cycles(1000), 5).unwrap();
}

#[test]
fn emitted_verilog_is_lint_clean() {
    for (ports, sync) in [
        (1, SyncPlan::Levels),
        (3, SyncPlan::Messages(MessagesPlan { timeout: 50 })),
        (2, SyncPlan::Lpi),
    ] {
        let mut plan = plan(Policy::PerfBound, 40);
        plan.sync = sync;
        check::lint_block(&SwitchPorts::new(&plan, ports)).unwrap();
    }
}

/// Up to as many ports as a switch can have.
#[test]
#[ignore = "long; make test-all runs it"]
fn emitted_verilog_of_many_ports_is_lint_clean() {
    for (ports, sync) in [
        (16, SyncPlan::Messages(MessagesPlan { timeout: 50 })),
        (8, SyncPlan::Lpi),
        (20, SyncPlan::Levels),
        (64, SyncPlan::Levels),
    ] {
        let mut plan = plan(Policy::PerfBound, 40);
        plan.sync = sync;
        check::lint_block(&SwitchPorts::new(&plan, ports)).unwrap();
    }
}
