//! The scenario that lies in `sim/`: 16 nodes replay LAMMPS through one switch.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use linkdoze::network::scenario::Scenario;
use linkdoze::network::{event, run, trace, Ended, Progress, Workload};

#[test]
fn the_whole_trace_runs_to_its_end() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scenario = Scenario::load(&root.join("sim/lammps-lj-r16.toml")).unwrap();
    let workload = Workload::of(&scenario).unwrap().unwrap();
    let program = workload.jobs[0].program.recorded().unwrap();
    let info = trace::info::info(&program).unwrap();
    // The figures that were published with the trace.
    assert_eq!(
        (info.ranks, info.calcs, info.sends, info.recvs),
        (16, 181456, 68556, 68556)
    );
    assert_eq!((info.dependencies, info.bytes_sent), (386685, 982818132));
    assert_eq!(info.message_bytes_max, Some(69984));
    assert_eq!((info.ideal_time_ns / 1e4).round(), 25754.0);

    let power = event::Power {
        clock_ps: 1000,
        plans: &[],
        metered: None,
    };
    let begin = Instant::now();
    let mut calls = 0;
    let replacements = event::Replacements::new();
    let mut count = |_: &Progress| {
        calls += 1;
        ControlFlow::Continue(())
    };
    let workload = Some(&workload);
    let summary = run(&scenario, workload, &power, 1, replacements, &mut count).unwrap();
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "{} ns simulated in {seconds:.3} s: {} events ({:.0}/s), {} packet hops ({:.0}/s), \
         latency mean {:.0} p50 {} p99 {} max {} ps",
        summary.time_ps / 1000,
        summary.events,
        summary.events as f64 / seconds,
        summary.packet_hops,
        summary.packet_hops as f64 / seconds,
        summary.latency.mean_ps,
        summary.latency.p50_ps,
        summary.latency.p99_ps,
        summary.latency.max_ps,
    );
    assert_eq!(summary.ended, Ended::Complete);
    assert_eq!(
        (summary.messages, summary.delivered_bytes),
        (68556, 982818132)
    );
    assert_eq!((summary.sizes_differ, summary.packets_in_flight), (0, 0));
    assert_eq!(summary.packet_hops, 2 * summary.packets);
    assert!(calls > 0);
    // The ideal network has a latency of 1 us, longer than that of one switch; contention
    // and store and forward cost little beside the computing.
    let relative = summary.time_ps as f64 / 1000.0 / info.ideal_time_ns;
    assert!((0.95..1.05).contains(&relative), "{relative}");
    for port in &summary.ports {
        assert_eq!(port.cycles.states[0], summary.cycles);
    }
}
