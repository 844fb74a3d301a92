//! The network against hand computation, and against itself.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::blocks::port::controller::{testing::FixedThreshold, AlwaysOn};
use crate::blocks::port::golden;
use crate::blocks::port::model::Model;
use crate::blocks::port::pins::{Inputs, Outputs, PowerState};
use crate::blocks::testing::share;
use crate::config::plan::{MessagesPlan, PortPlan, SyncPlan};
use crate::config::Config;
use crate::network::replay::Overheads;
use crate::network::topology::{Hop, SingleSwitch, Topology};
use crate::network::trace::{from_text, Program};
use crate::network::{event, scenario, trace, Job};

type Controller = Box<dyn PowerController + Send>;

fn settings() -> Settings {
    Settings {
        switch: Parameters::default(),
        overheads: Overheads {
            send: 200_000,
            recv: 0,
        },
        clock_ps: 1000,
        duration_ps: None,
        warm_up_ps: 0,
        window_cycles: 1000,
    }
}

/// Keeps everything it is told.
#[derive(Default, PartialEq, Debug)]
struct Recorder {
    runs: Vec<Vec<(u64, Inputs, Outputs)>>,
    windows: Vec<u64>,
    /// Cycles told before simulated time begins.
    lead: u64,
}

impl ActivitySink for Recorder {
    fn run(&mut self, port: usize, cycles: u64, inputs: Inputs, outputs: Outputs) {
        assert!(cycles > 0);
        if self.runs.len() <= port {
            self.runs.resize(port + 1, Vec::new());
        }
        self.runs[port].push((cycles, inputs, outputs));
    }

    fn window(&mut self, cycle: u64) -> ControlFlow<()> {
        for runs in &self.runs {
            let reported: u64 = runs.iter().map(|run| run.0).sum();
            if self.windows.is_empty() {
                self.lead = reported - cycle;
            }
            let due = self.lead + cycle;
            assert_eq!(reported, due, "every port is told up to the window's end");
        }
        self.windows.push(cycle);
        ControlFlow::Continue(())
    }
}

fn simulate_with(
    program: &Program,
    settings: &Settings,
    controller: impl Fn() -> Controller,
) -> Result<(RunSummary, Recorder), RunError> {
    let topology = SingleSwitch {
        nodes: program.ranks(),
    };
    let nodes: Vec<u32> = (0..program.ranks() as u32).collect();
    let controllers = (0..topology.ports()).map(|_| controller()).collect();
    let mut sink = Recorder::default();
    simulate(
        &topology,
        program,
        &nodes,
        settings,
        controllers,
        &mut sink,
        &mut |_| ControlFlow::Continue(()),
    )
    .map(|summary| (summary, sink))
}

fn always_on(text: &str) -> RunSummary {
    let program = from_text(text).unwrap();
    simulate_with(&program, &settings(), || Box::new(AlwaysOn))
        .unwrap()
        .0
}

/// Two ranks; the first sends `sizes`, one after the other.
fn sends(sizes: &[u64]) -> String {
    let mut text = "num_ranks 2\nrank 0 {\n".to_owned();
    for size in sizes {
        writeln!(text, "send {size}b to 1").unwrap();
    }
    text += "}\nrank 1 {\n";
    for size in sizes {
        writeln!(text, "recv {size}b from 0").unwrap();
    }
    text + "}\n"
}

#[test]
fn one_packet_takes_the_time_computed_by_hand() {
    // CPU 200 ns; NIC 192 ns + cable 15 ns; crossbar 192 ns / 2.44 = 78.689 ns, until
    // 485.689; next clock edge 486; port 192 ns + cable 15 ns.
    let summary = always_on(&sends(&[9600]));
    assert_eq!(summary.time_ps, 693_000);
    assert_eq!(summary.latency.max_ps, 493_000);
    assert_eq!(summary.latency.p50_ps, 493_000);
    assert_eq!((summary.packets, summary.packet_hops), (1, 2));
    assert_eq!(summary.ended, Ended::Complete);
}

#[test]
fn packets_follow_each_other_without_a_gap() {
    // The second packet reaches the output (677.689) before the first has left (678).
    assert_eq!(always_on(&sends(&[19200])).time_ps, 885_000);
    // A byte more is a packet of its own, padded to 64 bytes: it leaves the NIC at 584
    // and crosses at 600.28 + 0.525, long before the second has left at 870.
    let summary = always_on(&sends(&[19201]));
    assert_eq!(summary.time_ps, 870_000 + 1280 + 15_000);
    assert_eq!((summary.packets, summary.delivered_bytes), (3, 19201));
}

#[test]
fn calcs_and_dependencies_take_the_time_computed_by_hand() {
    // l1 1000 ns; send 200 ns + 493 ns of network; the answer the same; l3 after it.
    let summary = always_on(
        "num_ranks 2\nrank 0 {\nl1: calc 1000\nl2: send 9600b to 1\nl2 requires l1\n\
         l3: recv 9600b from 1\nl3 irequires l2\nl4: calc 5\nl4 requires l3\n}\n\
         rank 1 {\nl1: recv 9600b from 0\nl2: send 9600b to 0\nl2 requires l1\n}\n",
    );
    assert_eq!(summary.time_ps, 1_000_000 + 2 * 693_000 + 5_000);
    assert_eq!(summary.calc_ps, [1_005_000, 0]);
}

#[test]
fn faster_processors_shorten_calcs_and_nothing_else() {
    // l1 and l3 are 1001 and 5 ns of the trace, between them a message there and back.
    let text = "num_ranks 2\nrank 0 {\nl1: calc 1001\nl2: send 9600b to 1\nl2 requires l1\n\
                l3: recv 9600b from 1\nl3 irequires l2\nl4: calc 5\nl4 requires l3\n}\n\
                rank 1 {\nl1: recv 9600b from 0\nl2: send 9600b to 0\nl2 requires l1\n}\n";
    let program = from_text(text).unwrap();
    let mut settings = settings();
    settings.overheads.recv = 100_000;
    let run = |speed| {
        let program = program.clone().at_speed(speed);
        let (summary, _) = simulate_with(&program, &settings, || Box::new(AlwaysOn)).unwrap();
        (summary.time_ps, summary.calc_ps)
    };
    // Messages leave at edges of the 1 ns clock, half a nanosecond later here.
    let messages = 2 * (693_000 + 100_000);
    assert_eq!(
        run(2_000_000),
        (500_500 + messages + 500 + 2_500, vec![503_000, 0])
    );
    assert_eq!(
        run(500_000),
        (2_002_000 + messages + 10_000, vec![2_012_000, 0])
    );
    // 143 and 0.714285... ns: to the nearest picosecond.
    assert_eq!(run(7_000_000), (143_000 + messages + 714, vec![143_714, 0]));
    assert_eq!(program.clone().at_speed(trace::TRACED_SPEED), program);
    assert_eq!(run(trace::TRACED_SPEED).0, 1_001_000 + messages + 5_000);
    // Programs of different speeds side by side, which the clocked engine joins.
    let joined = Program::join(&[&program, &program.clone().at_speed(2_000_000)]).unwrap();
    let (summary, _) = simulate_with(&joined, &settings, || Box::new(AlwaysOn)).unwrap();
    assert_eq!(summary.calc_ps, [1_006_000, 0, 503_000, 0]);
    // Halves up; identity up to the longest calc that can be; no overflow.
    assert_eq!(program.clone().at_speed(16_000_000).calc_ps(0, 1), 63);
    let longest = trace::limits::MAX_CALC_NS;
    assert_eq!(program.calc_ps(0, longest), longest * 1000);
    assert_eq!(program.clone().at_speed(1).calc_ps(0, u64::MAX), u64::MAX);
    let slow = from_text(&format!(
        "num_ranks 1\nrank 0 {{\ncalc {}\n}}\n",
        longest / 2
    ))
    .unwrap();
    assert!(trace::info::check_times(&[&slow]).is_ok());
    let error = trace::info::check_times(&[&slow.at_speed(100_000)]).unwrap_err();
    assert!(error.contains("the most that can be simulated"), "{error}");
}

#[test]
fn jobs_of_one_file_and_one_speed_share_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name| folder.path().join(name);
    std::fs::write(place("a.goal"), "num_ranks 1\nrank 0 {\ncalc 1000\n}\n").unwrap();
    let job = |keys: &str| format!("[[traffic.jobs]]\nfile = \"a.goal\"\n{keys}\n");
    let text = job("copies = 2\ncpu_speed = 4") + &job("cpu_speed = 4.0") + &job("");
    std::fs::write(place("s.toml"), text).unwrap();
    let scenario = scenario::Scenario::load(&place("s.toml")).unwrap();
    let workload = Workload::of(&scenario).unwrap().unwrap();
    let recorded = |job: &Job| match &job.program {
        crate::network::Program::Recorded(program) => Arc::clone(program),
        crate::network::Program::Skeleton(_) => panic!("a trace"),
    };
    let programs: Vec<_> = workload.jobs.iter().map(recorded).collect();
    assert!(Arc::ptr_eq(&programs[0], &programs[1]));
    assert!(Arc::ptr_eq(&programs[0], &programs[2]));
    assert_eq!(programs[0].calc_ps(0, 1000), 250_000);
    assert_eq!(programs[3].calc_ps(0, 1000), 1_000_000);
    let summary = crate::network::run(
        &scenario,
        Some(&workload),
        &event::Power {
            clock_ps: 1000,
            plans: &[],
            metered: None,
        },
        1,
        Default::default(),
        &mut |_| ControlFlow::Continue(()),
    )
    .unwrap();
    assert_eq!(summary.time_ps, 1_000_000);
    assert_eq!(summary.calc_ps[..4], [250_000, 250_000, 250_000, 1_000_000]);
}

#[test]
fn cpus_run_in_parallel_and_one_cpu_does_not() {
    let two = always_on("num_ranks 1\nrank 0 {\ncalc 100 cpu 0\ncalc 70 cpu 1\n}\n");
    assert_eq!(two.time_ps, 100_000);
    let one = always_on("num_ranks 1\nrank 0 {\ncalc 100\ncalc 70\n}\n");
    assert_eq!(one.time_ps, 170_000);
}

#[test]
fn a_message_to_the_own_rank_stays_in_the_node() {
    let summary =
        always_on("num_ranks 2\nrank 0 {\nsend 5b to 0\nrecv 5b from 0\n}\nrank 1 {\n}\n");
    assert_eq!(summary.time_ps, 200_000);
    assert_eq!((summary.messages, summary.packets), (1, 0));
}

#[test]
fn receives_of_one_channel_are_posted_in_the_order_of_the_file() {
    // MPI: messages of one channel do not overtake, and meet the receives in the order in
    // which these were posted. All four are ready at once.
    assert_eq!(always_on(&sends(&[10, 2000, 300, 40])).sizes_differ, 0);
    let after = always_on(
        "num_ranks 2\nrank 0 {\nsend 10b to 1\nsend 20b to 1\n}\nrank 1 {\na: calc 5\n\
         b: recv 10b from 0\nb requires a\nc: recv 20b from 0\nc requires a\n}\n",
    );
    assert_eq!(after.sizes_differ, 0);
}

#[test]
fn wildcards_take_the_oldest_message() {
    // Rank 1's message arrives first; the receive of any source and tag is posted first.
    let summary = always_on(
        "num_ranks 3\nrank 0 {\na: recv 10b from -1 tag -1\nb: recv 20b from 2 tag 7\n}\n\
         rank 1 {\nsend 10b to 0 tag 3\n}\nrank 2 {\na: calc 5000\nb: send 20b to 0 tag 7\n\
         b requires a\n}\n",
    );
    assert_eq!(summary.sizes_differ, 0);
    assert_eq!(summary.messages, 2);
}

/// Every node but the first sends `bytes` to the first.
fn incast(ranks: usize, bytes: u64) -> String {
    let mut text = format!("num_ranks {ranks}\nrank 0 {{\n");
    for rank in 1..ranks {
        writeln!(text, "recv {bytes}b from {rank}").unwrap();
    }
    text += "}\n";
    for rank in 1..ranks {
        writeln!(text, "rank {rank} {{\nsend {bytes}b to 0\n}}").unwrap();
    }
    text
}

#[test]
fn pfc_holds_an_incast_without_loss() {
    for (ranks, bytes) in [(16, 1_000_000), (3, 500_000), (64, 100_001)] {
        let summary = always_on(&incast(ranks, bytes));
        let sent = (ranks as u64 - 1) * bytes;
        assert_eq!(summary.delivered_bytes, sent);
        assert_eq!(summary.packets_in_flight, 0);
        let pauses: u64 = summary.ports.iter().map(|port| port.pauses).sum();
        assert!(pauses > 0, "{ranks} ranks");
        let bound = Parameters::default().input_bound() as u32;
        for port in &summary.ports {
            assert!(port.highest_input <= bound && bound <= 49152, "{port:?}");
            assert!(port.highest_output <= 49152, "{port:?}");
        }
        // The last link carries everything; what it takes beyond that is the first
        // packet's way, less than 1 us.
        let line = sent * 20;
        assert!(
            summary.time_ps > line && summary.time_ps < line + 1_000_000,
            "{summary:?}"
        );
    }
}

#[test]
fn pfc_holds_small_packets_between_large_ones() {
    // Many 64-byte packets and then a large one, the hardest case for the headroom.
    let mut sizes = Vec::new();
    for _ in 0..40 {
        sizes.extend([64; 30]);
        sizes.push(9600);
    }
    let mut text = "num_ranks 5\n".to_owned();
    text += "rank 0 {\n";
    for from in 1..5 {
        for size in &sizes {
            writeln!(text, "recv {size}b from {from}").unwrap();
        }
    }
    text += "}\n";
    for rank in 1..5 {
        writeln!(text, "rank {rank} {{").unwrap();
        for size in &sizes {
            writeln!(text, "send {size}b to 0").unwrap();
        }
        text += "}\n";
    }
    let program = from_text(&text).unwrap();
    let mut settings = settings();
    settings.overheads.send = 0;
    let (summary, _) = simulate_with(&program, &settings, || Box::new(AlwaysOn)).unwrap();
    assert_eq!(summary.messages, 4 * sizes.len() as u64);
    assert!(summary.ports.iter().any(|port| port.pauses > 0));
}

/// A program of random messages, computations and dependencies that always ends: every
/// operation waits only for operations that stand above it in the order of creation.
fn random_program(seed: u64) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let ranks = rng.random_range(1..=9usize);
    let mut ops: Vec<Vec<String>> = vec![Vec::new(); ranks];
    let mut deps: Vec<Vec<String>> = vec![Vec::new(); ranks];
    let add = |rank: usize,
               op: String,
               rng: &mut ChaCha8Rng,
               ops: &mut Vec<Vec<String>>,
               deps: &mut Vec<Vec<String>>| {
        let number = ops[rank].len();
        ops[rank].push(format!("l{number}: {op}"));
        if number > 0 && rng.random_bool(0.7) {
            let other = rng.random_range(0..number);
            let kind = ["requires", "irequires"][rng.random_range(0..2)];
            deps[rank].push(format!("l{number} {kind} l{other}"));
        }
    };
    // Each message has a tag of its own: receives of one channel that are posted out of
    // order can make a program wait for itself.
    for tag in 0..rng.random_range(1..150) {
        let rank = rng.random_range(0..ranks);
        if rng.random_bool(0.3) {
            let time = 10u64.pow(rng.random_range(0..5)) * rng.random_range(0..10);
            let cpu = rng.random_range(0..2);
            add(
                rank,
                format!("calc {time} cpu {cpu}"),
                &mut rng,
                &mut ops,
                &mut deps,
            );
            continue;
        }
        let to = rng.random_range(0..ranks);
        let largest = 10u64.pow(rng.random_range(1..6));
        let bytes = rng.random_range(1..=largest);
        add(
            rank,
            format!("send {bytes}b to {to} tag {tag}"),
            &mut rng,
            &mut ops,
            &mut deps,
        );
        add(
            to,
            format!("recv {bytes}b from {rank} tag {tag}"),
            &mut rng,
            &mut ops,
            &mut deps,
        );
    }
    let mut text = format!("num_ranks {ranks}\n");
    for rank in 0..ranks {
        writeln!(text, "rank {rank} {{").unwrap();
        for line in ops[rank].iter().chain(&deps[rank]) {
            writeln!(text, "{line}").unwrap();
        }
        text += "}\n";
    }
    text
}

fn check_run(program: &Program, summary: &RunSummary, sink: &Recorder) {
    let sends = program
        .ops()
        .iter()
        .filter(|op| op.kind == trace::OpKind::Send);
    let sent: Vec<_> = sends.collect();
    assert_eq!(summary.ended, Ended::Complete);
    assert_eq!(summary.messages, sent.len() as u64);
    assert_eq!(summary.operations_finished, program.ops().len());
    assert_eq!(summary.packets_in_flight, 0);
    assert_eq!(summary.packet_hops, 2 * summary.packets);
    let on_wire: u64 = summary.ports.iter().map(|port| port.packets_sent).sum();
    assert_eq!(on_wire, summary.packet_hops);
    let ports = summary.ports.len();
    assert_eq!(sink.runs.len(), ports);
    for (port, runs) in summary.ports.iter().zip(&sink.runs) {
        assert_eq!(port.cycles.states.iter().sum::<u64>(), summary.cycles);
        assert_eq!(runs.iter().map(|run| run.0).sum::<u64>(), summary.cycles);
        let mut states = [0; 6];
        let mut starts = 0;
        for (cycles, inputs, outputs) in runs {
            states[outputs.power_state as usize] += cycles;
            if inputs.packet_valid {
                assert_eq!(inputs.packet_hops, 2);
                starts += cycles;
            }
            assert!(inputs.queue_nonempty || !inputs.transmitting);
        }
        assert_eq!(states, port.cycles.states);
        assert_eq!(starts, port.packets_sent);
    }
}

/// The runs of a port, one entry per cycle.
fn expand(runs: &[(u64, Inputs, Outputs)]) -> Vec<(Inputs, Outputs)> {
    let mut cycles = Vec::new();
    for &(count, inputs, outputs) in runs {
        cycles.extend(std::iter::repeat_n((inputs, outputs), count as usize));
    }
    cycles
}

/// What the two ends of a link must see of each other in every cycle, and that a
/// controller clocked cycle by cycle with these inputs gives these outputs.
fn check_cycles(sink: &Recorder, controller: impl Fn() -> Controller) {
    let ports = sink.runs.len();
    let cycles: Vec<_> = sink.runs.iter().map(|runs| expand(runs)).collect();
    for port in 0..ports {
        let peer = (port + ports / 2) % ports;
        let mut model = controller();
        for (cycle, (inputs, outputs)) in cycles[port].iter().enumerate() {
            let (other, other_outputs) = &cycles[peer][cycle];
            assert_eq!(model.outputs(), *outputs, "port {port} cycle {cycle}");
            model.advance(inputs, 1);
            let down = matches!(
                other_outputs.power_state,
                PowerState::GoingDown
                    | PowerState::FastWake
                    | PowerState::DeepSleep
                    | PowerState::Refresh
            );
            // The other end is seen going down once its last packet has arrived: 15 ns of
            // cable, and the cycle in which that is seen.
            let sending = cycles[peer][cycle.saturating_sub(16)..=cycle]
                .iter()
                .any(|(inputs, _)| inputs.transmitting);
            if inputs.remote_down {
                assert!(down && !inputs.receiving && !other.transmitting);
            } else {
                assert!(!down || sending, "port {port} cycle {cycle}");
            }
            let awake = outputs.power_state == PowerState::Wake
                && other_outputs.power_state == PowerState::Wake;
            assert_eq!(inputs.remote_up, other.queue_nonempty && !awake);
            if inputs.sleep_permit {
                assert!(!other.queue_nonempty && !other.transmitting && !inputs.receiving);
            }
            if inputs.packet_valid {
                assert!(outputs.tx_enable && other_outputs.tx_enable && inputs.transmitting);
            }
        }
    }
}

#[test]
fn random_programs_lose_nothing_and_repeat_exactly() {
    for seed in 0..60 {
        let program = from_text(&random_program(seed)).unwrap();
        let run = || simulate_with(&program, &settings(), || Box::new(AlwaysOn)).unwrap();
        let (summary, sink) = run();
        check_run(&program, &summary, &sink);
        assert_eq!(run(), (summary, sink), "seed {seed}");
    }
}

#[test]
fn random_programs_survive_sleeping_links() {
    let seeds: Vec<u64> = (0..60).collect();
    for &seed in share(&seeds, 3) {
        let program = from_text(&random_program(seed)).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (t_pdt, t_s, t_w) = (
            rng.random_range(0..300),
            rng.random_range(1..300),
            rng.random_range(1..500),
        );
        let sleeper = || Box::new(FixedThreshold::new(t_pdt, t_s, t_w)) as Controller;
        let (summary, sink) = simulate_with(&program, &settings(), sleeper).unwrap();
        check_run(&program, &summary, &sink);
        check_cycles(&sink, sleeper);
        // The clock and the window change nothing but the grain of what is told.
        let coarse = Settings {
            window_cycles: 77,
            ..settings()
        };
        let (again, _) = simulate_with(&program, &coarse, sleeper).unwrap();
        assert_eq!(summary, again, "seed {seed}");
        // Nor does a controller that promises no more than one quiet cycle.
        let cautious = || Box::new(Cautious(FixedThreshold::new(t_pdt, t_s, t_w))) as Controller;
        let (slow, _) = simulate_with(&program, &settings(), cautious).unwrap();
        let strip = |summary: &RunSummary| RunSummary {
            events: 0,
            ..summary.clone()
        };
        assert_eq!(strip(&summary), strip(&slow), "seed {seed}");
    }
}

/// Promises nothing beyond the present cycle.
struct Cautious(FixedThreshold);

impl Model for Cautious {
    fn outputs(&self) -> Outputs {
        self.0.outputs()
    }

    fn advance(&mut self, inputs: &Inputs, max: u64) -> u64 {
        self.0.advance(inputs, max)
    }
}

impl PowerController for Cautious {
    fn quiet_cycles(&self, _: &Inputs) -> u64 {
        1
    }
}

#[test]
fn a_sleeping_link_delays_a_packet_by_what_is_left_of_its_transitions() {
    let program = from_text(
        "num_ranks 2\nrank 0 {\na: send 9600b to 1\nb: calc 10000\nb requires a\n\
         c: send 9600b to 1\nc requires b\n}\nrank 1 {\nrecv 9600b from 0\nrecv 9600b from 0\n}\n",
    )
    .unwrap();
    let sleeper = || Box::new(FixedThreshold::new(100, 200, 375)) as Controller;
    let (summary, sink) = simulate_with(&program, &settings(), sleeper).unwrap();
    check_cycles(&sink, sleeper);
    // The NIC's second packet comes at 10.4 us, long after the link went down. The NIC is
    // in GoingUp from cycle 10401 and awake from 10776; its peer follows at once. The
    // packet arrives at 10983, has crossed at 11061.689: the switch port sees it in cycle
    // 11062, is awake from 11438, and the packet takes 207 ns more.
    assert_eq!(summary.time_ps, 11_438_000 + 207_000);
    let nic = &summary.ports[2];
    assert_eq!(nic.cycles.transitions, 3, "{nic:?}");
    // Wake: cycles 0 to 392 with the first packet, its cable and its timer, then from the
    // second packet on, less what the second timer took.
    assert_eq!(nic.cycles.states.iter().sum::<u64>(), summary.cycles);
    assert_eq!(nic.cycles.states[PowerState::GoingUp as usize], 375);
}

/// The first cycle in which a port is in `state`.
fn first_cycle(runs: &[(u64, Inputs, Outputs)], state: PowerState) -> u64 {
    begins(runs, state)[0]
}

/// The cycles in which `state` begins.
fn begins(runs: &[(u64, Inputs, Outputs)], state: PowerState) -> Vec<u64> {
    let mut begins = Vec::new();
    let (mut cycle, mut before) = (0, None);
    for (cycles, _, outputs) in runs {
        if outputs.power_state == state && before != Some(state) {
            begins.push(cycle);
        }
        before = Some(outputs.power_state);
        cycle += cycles;
    }
    begins
}

/// A threshold of 0 into deep sleep.
fn plan_at_once(sync: &str) -> PortPlan {
    let text = format!("[port]\npolicy = \"fixed\"\nt_pdt_ns = 0\nsync = \"{sync}\"\n");
    Config::parse(&text, "test").unwrap().plan().unwrap()
}

/// One packet of 9600 bytes, then silence.
fn one_packet() -> Program {
    from_text(
        "num_ranks 2\nrank 0 {\nsend 9600b to 1\n}\n\
         rank 1 {\na: recv 9600b from 0\nb: calc 20000\nb requires a\n}\n",
    )
    .unwrap()
}

#[test]
fn ends_that_exchange_messages_go_down_in_the_same_cycle() {
    let plan = plan_at_once("messages");
    let sleeper = || Box::new(golden::Port::new(&plan)) as Controller;
    let (summary, sink) = simulate_with(&one_packet(), &settings(), sleeper).unwrap();
    // After reset: 10 us time-out, 2 us down, 4.48 us up, and three cycles.
    assert_eq!(sink.lead, 16_483);
    // The NIC sends until 392 ns, is idle in cycle 392, and asks in the next. A message takes
    // 16.28 ns, 17 cycles; the answer leaves in the cycle after, SYNC after the answer:
    // 393 + 17 + 1 + 17 + 1 + 17 = 446 is the last cycle awake, at both ends.
    for port in [0, 2] {
        let down = first_cycle(&sink.runs[port], PowerState::GoingDown);
        assert_eq!(down, sink.lead + 447);
    }
    // Simulated time knows nothing of the cycles before it.
    for port in &summary.ports {
        assert_eq!(port.cycles.states.iter().sum::<u64>(), summary.cycles);
    }
}

#[test]
fn a_time_out_shorter_than_a_round_trip_is_reported() {
    let mut plan = plan_at_once("messages");
    plan.sync = SyncPlan::Messages(MessagesPlan { timeout: 34 });
    let sleeper = || Box::new(golden::Port::new(&plan)) as Controller;
    let error = simulate_with(&one_packet(), &settings(), sleeper).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("a round trip is 34 clock cycles"),
        "{error}"
    );
    // The trace cannot help it: the scenario is named.
    let scenario = "[topology]\nnodes = 2\n[traffic]\nfile = \"one.goal\"\n";
    let scenario = scenario::Scenario::parse(scenario, Path::new("s.toml")).unwrap();
    let workload = Workload {
        jobs: vec![Job {
            name: "one.goal".into(),
            program: crate::network::Program::Recorded(Arc::new(one_packet())),
        }],
        nodes: vec![0, 1],
        overheads: settings().overheads,
        source: "one.goal".into(),
    };
    let clocked = |clock_ps, controller: &dyn Fn() -> Controller| {
        let controllers = Controllers {
            clock_ps,
            ports: (0..4).map(|_| controller()).collect(),
        };
        let mut go_on = |_: &Progress| ControlFlow::Continue(());
        run(&scenario, &workload, controllers, &mut NoSink, &mut go_on)
            .unwrap_err()
            .to_string()
    };
    let error = clocked(1000, &sleeper);
    assert!(error.starts_with("s.toml: nic0: ") || error.starts_with("s.toml: switch0.port0: "));
    let error = clocked(2000, &sleeper);
    assert!(
        error.starts_with("s.toml: a clock period of 2000 ps"),
        "{error}"
    );
    // The answer comes one cycle after a round trip.
    plan.sync = SyncPlan::Messages(MessagesPlan { timeout: 35 });
    let sleeper = || Box::new(golden::Port::new(&plan)) as Controller;
    simulate_with(&one_packet(), &settings(), sleeper).unwrap();
}

#[test]
fn a_threshold_shorter_than_the_cable_powers_down_at_once() {
    // The PerfBound paper sweeps thresholds from 0 on: the packet that is still on the cable when
    // the timer of its sender expires must not keep the link awake.
    let plan = plan_at_once("levels");
    let sleeper = || Box::new(golden::Port::new(&plan)) as Controller;
    let (_, sink) = simulate_with(&one_packet(), &settings(), sleeper).unwrap();
    check_cycles(&sink, sleeper);
    assert_eq!(sink.lead, 0);
    // Both ends are idle from reset on and go down in cycle 1. The packet, handed over at 200 ns,
    // finds the link asleep in cycle 2001 and awake in 6481. The NIC sends until 6673 ns and is
    // idle in that cycle; the packet has arrived at 6688 ns, and the switch port follows.
    let again = 2000 + 4480 + 192;
    assert_eq!(begins(&sink.runs[2], PowerState::GoingDown), [1, 2 + again]);
    let follows = begins(&sink.runs[0], PowerState::GoingDown);
    assert_eq!(follows[..2], [1, 2 + again + 15]);
}

#[test]
fn a_cut_run_ends_with_its_duration() {
    let program = from_text(&incast(4, 1_000_000)).unwrap();
    let settings = Settings {
        duration_ps: Some(10_000_500),
        ..settings()
    };
    let (summary, sink) = simulate_with(&program, &settings, || Box::new(AlwaysOn)).unwrap();
    assert_eq!(summary.ended, Ended::Duration);
    assert_eq!((summary.time_ps, summary.cycles), (10_000_500, 10_001));
    assert!(summary.operations_finished < summary.operations);
    for runs in &sink.runs {
        assert_eq!(runs.iter().map(|run| run.0).sum::<u64>(), 10_001);
    }
}

/// Stops at the third window.
struct Impatient(Vec<u64>, u64);

impl ActivitySink for Impatient {
    fn run(&mut self, port: usize, cycles: u64, _: Inputs, _: Outputs) {
        self.1 += if port == 0 { cycles } else { 0 };
    }

    fn window(&mut self, cycle: u64) -> ControlFlow<()> {
        self.0.push(cycle);
        if self.0.len() == 3 {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

#[test]
fn a_sink_stops_a_run_at_a_window() {
    let program = from_text(&incast(4, 1_000_000)).unwrap();
    let mut sink = Impatient(Vec::new(), 0);
    let summary = simulate(
        &SingleSwitch { nodes: 4 },
        &program,
        &[0, 1, 2, 3],
        &settings(),
        (0..8).map(|_| Box::new(AlwaysOn) as Controller).collect(),
        &mut sink,
        &mut |_| ControlFlow::Continue(()),
    )
    .unwrap();
    assert_eq!(summary.ended, Ended::Stopped);
    assert_eq!(sink.0.len(), 3);
    assert_eq!(sink.1, summary.cycles);
    assert_eq!(sink.0[2], summary.cycles);
}

/// Two nodes on a switch with four ports, two of them without a cable.
#[derive(Debug)]
struct HalfEmpty;

impl Topology for HalfEmpty {
    fn nodes(&self) -> usize {
        2
    }

    fn switches(&self) -> usize {
        1
    }

    fn radix(&self) -> usize {
        4
    }

    fn nodes_per_switch(&self) -> usize {
        2
    }

    fn switch_of(&self, _: usize) -> usize {
        0
    }

    fn peer(&self, port: usize) -> Option<usize> {
        [Some(4), Some(5), None, None, Some(0), Some(1)][port]
    }

    fn route(&self, _: usize, _: usize, lane: u8, destination: usize) -> Hop {
        Hop {
            port: destination as u8,
            lane,
        }
    }

    fn hops(&self, _: usize, _: usize) -> u8 {
        2
    }

    fn classes(&self) -> Vec<String> {
        vec!["all".into()]
    }

    fn class(&self, _: usize) -> usize {
        0
    }
}

#[test]
fn a_port_without_a_cable_has_no_states_and_no_energy() {
    let summary = simulate(
        &HalfEmpty,
        &from_text(&sends(&[9600])).unwrap(),
        &[0, 1],
        &settings(),
        (0..6).map(|_| Box::new(AlwaysOn) as Controller).collect(),
        &mut NoSink,
        &mut |_| ControlFlow::Continue(()),
    )
    .unwrap();
    assert_eq!(summary.time_ps, 693_000);
    let cabled: Vec<bool> = summary.ports.iter().map(|port| port.cabled).collect();
    assert_eq!(cabled, [true, true, false, false, true, true]);
    assert_eq!(summary.ports[2].cycles, PortCycles::default());
    crate::energy::check_conservation(&summary).unwrap();
    let energy = crate::energy::SystemPower::default().energy(1, &summary);
    assert_eq!(energy.ports[2].0, 0);
    // Four ends of 24 W for 693 ns.
    assert_eq!(energy.links.0, 4 * 24_000_000 * 693_000);
    assert_eq!(energy.links, energy.links_always_on);
}

/// Sleeps from the first cycle on and never wakes.
struct Dead;

impl Model for Dead {
    fn outputs(&self) -> Outputs {
        Outputs {
            power_state: PowerState::DeepSleep,
            ..Default::default()
        }
    }

    fn advance(&mut self, _: &Inputs, max: u64) -> u64 {
        max
    }
}

impl PowerController for Dead {
    fn quiet_cycles(&self, _: &Inputs) -> u64 {
        u64::MAX
    }
}

#[test]
fn errors_say_what_is_wrong() {
    let failure = |text: &str, settings: &Settings, controller: fn() -> Controller| {
        let program = from_text(text).unwrap();
        simulate_with(&program, settings, controller)
            .unwrap_err()
            .to_string()
    };
    let on: fn() -> Controller = || Box::new(AlwaysOn);
    let dead = failure(&sends(&[1]), &settings(), || Box::new(Dead));
    assert!(
        dead.contains("nic0") && dead.contains("no controller will ever wake it"),
        "{dead}"
    );
    let slow = Settings {
        clock_ps: 1281,
        ..settings()
    };
    let clock = failure(&sends(&[1]), &slow, on);
    assert!(clock.contains("at most 1280 ps"), "{clock}");
    let crossed = "num_ranks 2\nrank 0 {\na: recv 1b from 1\nb: send 1b to 1\nb requires a\n}\n\
                   rank 1 {\na: recv 1b from 0\nb: send 1b to 0\nb requires a\n}\n";
    let deadlock = failure(crossed, &settings(), on);
    assert!(
        deadlock.contains("rank 0: recv 1b from 1 tag 0"),
        "{deadlock}"
    );
    let mut tight = settings();
    tight.switch.cable_ps = 50_000;
    let cable = failure(&sends(&[1]), &tight, on);
    assert!(cable.contains("queue_bytes = 52563"), "{cable}");
    let nic = "num_ranks 2\nrank 0 {\nsend 1b to 1 nic 1\n}\nrank 1 {\nrecv 1b from 0\n}\n";
    assert!(failure(nic, &settings(), on).contains("names nic 1"));
    let long = format!("num_ranks 1\nrank 0 {{\ncalc {}\n}}\n", u64::MAX);
    assert!(failure(&long, &settings(), on).contains("the most that can be simulated"));
}

#[test]
fn lammps_over_sleeping_links() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let scenario = scenario::Scenario::load(&root.join("sim/lammps-lj-r16.toml")).unwrap();
    let workload = Workload::of(&scenario).unwrap().unwrap();
    let run = |controller: &dyn Fn() -> Controller| {
        let controllers = Controllers {
            clock_ps: 1000,
            ports: (0..scenario.topology.ports())
                .map(|_| controller())
                .collect(),
        };
        let begin = std::time::Instant::now();
        let summary = run(&scenario, &workload, controllers, &mut NoSink, &mut |_| {
            ControlFlow::Continue(())
        })
        .unwrap();
        println!(
            "{} ns, {:?}, {} events",
            summary.time_ps / 1000,
            begin.elapsed(),
            summary.events
        );
        crate::energy::check_conservation(&summary).unwrap();
        let energy = crate::energy::SystemPower::default().energy(1, &summary);
        (summary, energy)
    };
    let (awake, full) = run(&|| Box::new(AlwaysOn));
    // PerfBound Table 8: deep sleep takes 4480 ns to wake and 2000 ns to fall asleep. (The test
    // controller knows one sleep state, whose power is that of fast wake.)
    let (asleep, saved) = run(&|| Box::new(FixedThreshold::new(100_000, 2000, 4480)));
    assert_eq!(full.links, full.links_always_on);
    assert_eq!(asleep.delivered_bytes, awake.delivered_bytes);
    assert!(asleep.time_ps > awake.time_ps && asleep.time_ps < awake.time_ps / 10 * 11);
    let fraction = 1.0 - saved.links.joules() / saved.links_always_on.joules();
    assert!(fraction > 0.05 && fraction < 0.6, "{fraction}");
}

/// Goes to sleep when told to, whatever is under way; `quiet` is what it promises.
struct Careless {
    cycle: u64,
    sleeps_at: u64,
    quiet: u64,
}

impl Model for Careless {
    fn outputs(&self) -> Outputs {
        let asleep = self.cycle >= self.sleeps_at;
        Outputs {
            tx_enable: !asleep,
            power_state: if asleep {
                PowerState::GoingDown
            } else {
                PowerState::Wake
            },
            ..Default::default()
        }
    }

    fn advance(&mut self, _: &Inputs, max: u64) -> u64 {
        let left = self.sleeps_at.saturating_sub(self.cycle);
        let step = if left == 0 { max } else { max.min(left) };
        self.cycle += step;
        step
    }
}

impl PowerController for Careless {
    fn quiet_cycles(&self, _: &Inputs) -> u64 {
        self.quiet
    }
}

#[test]
fn controllers_that_break_the_rules_are_reported() {
    let program = from_text(&sends(&[9600])).unwrap();
    let run = |sleeps_at, quiet| {
        simulate_with(&program, &settings(), || {
            Box::new(Careless {
                cycle: 0,
                sleeps_at,
                quiet,
            })
        })
        .unwrap_err()
        .to_string()
    };
    // The NIC sends from cycle 200 to 392.
    let asleep = run(300, 1);
    assert!(asleep.contains("in clock cycle 300"), "{asleep}");
    assert!(
        asleep.contains("switch0.port0") && asleep.contains("while a packet was on its way to it"),
        "{asleep}"
    );
    let liar = run(100, 150);
    assert!(liar.contains("announced 150 quiet cycles"), "{liar}");
    assert!(liar.contains("after 100"), "{liar}");
}
