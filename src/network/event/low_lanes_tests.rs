//! Links of several lanes (Zahn II.A): one engine against the other, and what lanes are for.

use super::selections_tests::{bursts, shape};
use super::tests::{clocked_with, congested, go_on, lammps, settings, OVERHEADS};
use super::*;
use crate::blocks::port::pins::PowerState;
use crate::network::clocked::NoSink;
use crate::network::parameters::Lanes;
use crate::network::topology::{ConfiguredTopology, Value};
use crate::network::trace::{self, Program};
use crate::network::PortSummary;

fn tree() -> ConfiguredTopology {
    let parameters = [("k", Value::Number(4)), ("n", Value::Number(2))];
    shape("k-ary-n-tree", &parameters)
}

/// Each direction turns lanes off after 2 us, and takes 1 us to turn them off and on.
fn plan(sleep: &str) -> PortPlan {
    let text = format!(
        "[port]\npolicy = \"fixed\"\nsync = \"lpi\"\nsleep = \"{sleep}\"\nt_pdt_ns = 2000\n\
         [states.{sleep}]\nt_s_ns = 1000\nt_w_ns = 1000\n"
    );
    Config::parse(&text, "port.toml").unwrap().plan().unwrap()
}

/// A byte takes 21 ps by all lanes, so that few packets arrive in a switch at the same time.
fn switch(lanes: Option<Lanes>) -> Parameters {
    Parameters {
        byte_ps: 21,
        link_lanes: lanes,
        ..Parameters::default()
    }
}

fn with(
    switch: Parameters,
    plan: &PortPlan,
    program: &Program,
    duration: Option<u64>,
    threads: usize,
) -> Result<RunSummary, RunError> {
    let topology = tree();
    let nodes: Vec<u32> = (0..program.ranks() as u32).collect();
    let load = Load::Programs {
        programs: &[program.into()],
        nodes: &nodes,
        overheads: OVERHEADS,
    };
    let plans = vec![*plan; topology.classes().len()];
    let settings = Settings {
        switch,
        ..settings(&plans, duration, threads)
    };
    run(&*topology, load, &settings, Replacements::new(), &mut go_on)
}

/// Cycles of all ports in a state.
fn cycles_in(run: &RunSummary, state: PowerState) -> u64 {
    let of = |port: &PortSummary| port.cycles.states[state as usize];
    run.ports.iter().map(of).sum()
}

/// Both engines turn the same lanes off and on, and take as long by those that are on; so do several
/// threads.
#[test]
fn both_engines_turn_the_same_lanes() {
    let plan = plan("fast-wake");
    let (mut low_used, mut ups) = (0, 0);
    for (count, low) in [(4, 1), (12, 5)] {
        let switch = switch(Some(Lanes { count, low }));
        let lanes = switch
            .link_lanes
            .unwrap()
            .plan(&plan, &switch, 1, 1000)
            .unwrap();
        for (program, duration) in [
            (congested(15), Some(45_000_000)),
            (bursts(16), Some(600_000_000)),
            (lammps(), Some(900_000_000)),
        ] {
            let one = with(switch, &plan, &program, duration, 1).unwrap();
            let three = with(switch, &plan, &program, duration, 3).unwrap();
            assert!(one == three, "{count} {low}: one thread, three threads");
            let nodes: Vec<u32> = (0..program.ranks() as u32).collect();
            let topology = tree();
            let controller =
                |_| -> Box<dyn PowerController + Send> { Box::new(LanePort::new(&lanes)) };
            let network = (&*topology as &dyn Topology, &program, &nodes[..]);
            let clocked = clocked_with(switch, network, duration, controller, &mut NoSink);
            let events = one.events;
            for (port, (one, other)) in one.ports.iter().zip(&clocked.ports).enumerate() {
                assert_eq!(one, other, "{count} {low}, port {port}");
            }
            assert!(one == RunSummary { events, ..clocked }, "{count} {low}");
            low_used += cycles_in(&one, PowerState::FastWake);
            ups += cycles_in(&one, PowerState::GoingUp) / 1000;
        }
    }
    assert!(low_used > 1_000_000 && ups > 20, "{low_used} {ups}");
}

/// A message of so many bytes from one node to another, 100 us after the begin.
fn single(bytes: u64) -> Program {
    let rank = |rank: u32| match rank {
        0 => format!("c: calc 100000\ns: send {bytes}b to 5 tag 0\ns requires c\n"),
        5 => format!("r: recv {bytes}b from 0 tag 0\n"),
        _ => String::new(),
    };
    let ranks = (0..16).map(|it| format!("rank {it} {{\n{}}}\n", rank(it)));
    let text = format!("num_ranks 16\n{}", ranks.collect::<String>());
    trace::from_text(&text).unwrap()
}

/// "Although the transmitting data on only one lane takes longer, it remains still faster than a link
/// reconfiguration while switching on" (Zahn II.A): a small message takes four times as long on each of
/// its four links, and waits for none; a long one has all lanes turned on.
#[test]
fn small_messages_do_not_wait_and_long_ones_have_all_lanes() {
    let lanes = Some(Lanes { count: 4, low: 1 });
    let latency = |switch: Parameters, sleep: &str, bytes| {
        let run = with(switch, &plan(sleep), &single(bytes), None, 1).unwrap();
        run.latency.max_ps
    };
    let always_on = |bytes| {
        let awake = Config::parse("[port]\npolicy = \"always-on\"\nsync = \"lpi\"\n", "p.toml");
        let plan = awake.unwrap().plan().unwrap();
        let run = with(switch(None), &plan, &single(bytes), None, 1).unwrap();
        run.latency.max_ps
    };
    // 2000 bytes: 42 ns by all lanes, 168 by one. Each of four links sends them; where a packet waits
    // for the next clock edge, a nanosecond at most comes to it.
    let small = latency(switch(lanes), "fast-wake", 2000) - always_on(2000);
    let longer = 4 * (4 - 1) * 2000 * 21;
    assert!(small.abs_diff(longer) <= 4 * 1000, "{small} ps, {longer}");
    // Links that are off take 1 us each.
    let off = latency(switch(None), "deep-sleep", 2000) - always_on(2000);
    assert!(off.abs_diff(4 * 1_000_000) <= 4 * 1000, "{off} ps");
    // 100,000 bytes are sent in packets of 9600. The NIC has more than 15,873 of them at once; in a
    // switch so many wait behind the first packets, which go by one lane.
    let run = with(switch(lanes), &plan("fast-wake"), &single(100_000), None, 1).unwrap();
    let ups = run
        .ports
        .iter()
        .map(|port| port.cycles.states[PowerState::GoingUp as usize]);
    assert_eq!(
        ups.filter(|&cycles| cycles > 0).collect::<Vec<_>>(),
        [1000; 4]
    );
}

#[test]
fn ports_without_a_lane_controller_are_refused() {
    let lanes = Some(Lanes { count: 12, low: 1 });
    let refused = |switch: Parameters, plan: &PortPlan| {
        let error = with(switch, plan, &single(64), None, 1).unwrap_err();
        error.to_string()
    };
    let error = refused(switch(lanes), &plan("deep-sleep"));
    assert!(
        error.contains("give the ports policy = \"fixed\", sleep = \"fast-wake\""),
        "{error}"
    );
    for (key, value) in [("control_pins", "true"), ("triple_redundancy", "true")] {
        let text = format!(
            "[port]\npolicy = \"fixed\"\nsync = \"lpi\"\nsleep = \"fast-wake\"\n{key} = {value}\n"
        );
        let plan = Config::parse(&text, "port.toml").unwrap().plan().unwrap();
        let error = refused(switch(lanes), &plan);
        assert!(error.contains(&format!("{key} = false")), "{error}");
    }
    // 10 us at 381 Gb/s are 43,290 bytes of 12 lanes' time, and more than a small buffer holds.
    let slow = Config::parse(
        "[port]\npolicy = \"fixed\"\nsync = \"lpi\"\nsleep = \"fast-wake\"\n\
         [states.fast-wake]\nt_w_ns = 10000\n",
        "port.toml",
    );
    let small = Parameters {
        queue: 40_000,
        pfc_stop: 20_000,
        ..switch(lanes)
    };
    let error = refused(small, &slow.unwrap().plan().unwrap());
    assert!(
        error.contains("more than 43290 bytes wait, and the buffer holds 40000"),
        "{error}"
    );
}

/// All lanes are turned on when more than 15,873 bytes wait. Of packets of 9600 bytes two have to wait then, and
/// one is being sent: a buffer that holds two packets would leave the lanes off for ever.
#[test]
fn a_buffer_that_never_turns_lanes_on_is_refused() {
    let switch = |queue| Parameters {
        queue,
        pfc_stop: 10_000,
        ..switch(Some(Lanes { count: 4, low: 1 }))
    };
    let plan = plan("fast-wake");
    let error = with(switch(28_799), &plan, &single(64), None, 1).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("in a queue of 28799 bytes wait 9600 at most")
            && error.contains("queue_bytes = 28800 would do"),
        "{error}"
    );
    let run = with(switch(28_800), &plan, &single(100_000), None, 1).unwrap();
    let ups = |port: &&PortSummary| port.cycles.states[PowerState::GoingUp as usize] > 0;
    assert_eq!(run.ports.iter().filter(ups).count(), 4);
}
