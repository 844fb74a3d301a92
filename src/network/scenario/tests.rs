use super::*;
use crate::blocks::testing::share;
use crate::network::parameters::Lanes;
use crate::network::replay::Overheads;
use crate::network::skeleton::program::Kind as SkeletonKind;
use crate::network::skeleton::Parameters as SkeletonParameters;
use crate::network::traffic::inactivity::Application;
use crate::network::traffic::pattern::{Arrivals, Destinations};

fn parse(text: &str) -> Result<Scenario, String> {
    Scenario::parse(text, Path::new("folder/test.toml")).map_err(|error| error.to_string())
}

const LEAST: &str = "[traffic]\nfile = \"a.goal\"\n";

#[test]
fn defaults() {
    let scenario = parse(LEAST).unwrap();
    assert_eq!(scenario.switch, Parameters::default());
    assert_eq!(scenario.topology.nodes(), 16);
    let overheads = Overheads {
        send: 200_000,
        recv: 0,
    };
    let job = Job {
        origin: Origin::Trace("folder/a.goal".into()),
        mapping: Mapping::Linear,
        ranks_per_node: 1,
        copies: 1,
        cpu_speed: 1_000_000,
    };
    let jobs = vec![job];
    let expected = Jobs {
        jobs,
        overheads,
        drawn: false,
    };
    assert_eq!(scenario.traffic, Traffic::Jobs(expected));
    assert_eq!(scenario.power, Power::AlwaysOn);
    assert_eq!((scenario.duration_ps, scenario.seed), (None, 1));
    assert_eq!(scenario.sample_ps, None);
}

/// The parameters of the skeleton and where its ranks run on 8 nodes.
fn skeleton(keys: &str) -> Result<(SkeletonParameters, Vec<u32>), String> {
    let text = "[topology]\nnodes = 8\n[traffic]\nkind = \"skeleton\"\n".to_owned() + keys;
    let scenario = parse(&text)?;
    let Traffic::Jobs(jobs) = &scenario.traffic else {
        panic!("{:?}", scenario.traffic)
    };
    let Origin::Skeleton(parameters) = &jobs.jobs[0].origin else {
        panic!("{jobs:?}")
    };
    let ranks = parameters.ranks as usize;
    Ok((*parameters, jobs.place(&[ranks], 8, scenario.seed)?))
}

#[test]
fn a_skeleton_fills_the_network_with_the_sizes_of_the_traces() {
    let (parameters, nodes) = skeleton("program = \"lammps\"\n").unwrap();
    assert_eq!(parameters, SkeletonParameters::new("lammps", 8));
    assert_eq!(nodes, [0, 1, 2, 3, 4, 5, 6, 7]);
    let (parameters, nodes) = skeleton(
        "program = \"fft\"\nranks_per_node = 3\nranks = 10\nsteps = 7\njitter = 0.25\n\
         grid = [5, 2]\nmessage_bytes = 99\ncalc_ns = 5\n",
    )
    .unwrap();
    assert_eq!(nodes, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3]);
    let kind = SkeletonKind::Fft {
        grid: [5, 2],
        message_bytes: 99,
        calc_ns: 5,
    };
    let expected = SkeletonParameters {
        kind,
        ranks: 10,
        steps: 7,
        jitter_millionths: 250_000,
    };
    assert_eq!(parameters, expected);
    let group = |keys: &str| {
        let text = "program = \"allreduce-hierarchical\"\n".to_owned() + keys;
        match skeleton(&text).unwrap().0.kind {
            SkeletonKind::AllreduceHierarchical { group, .. } => group,
            other => panic!("{other:?}"),
        }
    };
    // A square's side; a node; what is asked for.
    assert_eq!(
        (
            group(""),
            group("ranks_per_node = 4\n"),
            group("group = 8\n")
        ),
        (2, 4, 8)
    );
    let (_, nodes) = skeleton("program = \"patmos\"\nmapping = [5, 5, 1]\n").unwrap();
    assert_eq!(nodes, [5, 5, 1]);
    let (_, nodes) =
        skeleton("program = \"patmos\"\nmapping = \"random\"\nranks_per_node = 2\n").unwrap();
    assert!(nodes.chunks(2).all(|pair| pair[0] == pair[1]), "{nodes:?}");
    assert_ne!(nodes[0], 0, "{nodes:?}");
}

#[test]
fn what_a_skeleton_cannot_have_is_told() {
    for (keys, expected) in [
        (
            "",
            "traffic.program is missing: one of lammps, fft, allreduce-ring,",
        ),
        (
            "program = \"lamps\"",
            "\"miniamr\"; the nearest is \"lammps\"",
        ),
        (
            "program = \"fft\"\nranks = 17\nranks_per_node = 2",
            "traffic.ranks = 17: the network has 8 nodes with ranks_per_node = 2; take \
             ranks_per_node = 3 or a larger network; the nearest legal value is 16",
        ),
        (
            "program = \"fft\"\nranks = 3\nmapping = [1, 2]",
            "traffic.ranks = 3: the mapping places 2; the nearest legal value is 2",
        ),
        (
            "program = \"halo3d\"\ngrid = [2, 2, 3]",
            "traffic.grid = [2, 2, 3]: makes 12 ranks, and there are 8; the grid nearest to a \
             cube is [2, 2, 2]",
        ),
        (
            "program = \"sweep3d\"\ngrid = [8]",
            "must be a list of 2 numbers, such as [2, 4]",
        ),
        (
            "program = \"allreduce-hierarchical\"\ngroup = 3",
            "traffic.group = 3: 8 ranks cannot be cut into groups of 3; the nearest sizes that can \
             are 2 and 4",
        ),
        (
            "program = \"lammps\"\ngroup = 2",
            "program = \"lammps\" has no `group`; it belongs to allreduce-hierarchical",
        ),
        ("program = \"halo3d\"\nneighbours = 18", "the nearest legal value is 26"),
        (
            "program = \"lammps\"\nsteps = 0",
            "traffic.steps = 0: must be a whole number from 1 to",
        ),
        (
            "program = \"lammps\"\nmapping = [1]\nranks_per_node = 2",
            "traffic.ranks_per_node = 2: cannot stand beside a mapping that is a list",
        ),
        ("program = \"lammps\"\njiter = 1", "the nearest known one is `jitter`"),
        (
            "program = \"sw4lite\"\ngrid = [2, 2, 2]",
            "sw4lite divides two dimensions: the third must be 1",
        ),
        (
            "program = \"fft\"\n[[traffic.jobs]]\nprogram = \"fft\"\nranks = 2",
            "cannot stand beside `jobs`: a single job has its keys in [traffic]",
        ),
        (
            "[[traffic.jobs]]\nprogram = \"fft\"",
            "traffic.jobs.ranks is missing: the ranks of the job",
        ),
    ] {
        let error = skeleton(keys).unwrap_err();
        assert!(error.contains(expected), "{keys}: {error}");
    }
}

/// The jobs of a network of 512 nodes: programs, ranks and steps.
fn jobs(keys: &str) -> Result<Vec<(&'static str, u32, u32)>, String> {
    let text =
        "[topology]\nkind = \"rlft\"\nradix = 16\nsubtrees = 8\n[traffic]\n".to_owned() + keys;
    let Traffic::Jobs(jobs) = parse(&text)?.traffic else {
        panic!("{text}: a pattern")
    };
    let all = jobs.jobs.iter().map(|job| match &job.origin {
        Origin::Skeleton(of) => (of.name(), of.ranks, of.steps),
        Origin::Trace(file) => panic!("{file:?}"),
    });
    Ok(all.collect())
}

#[test]
fn several_skeletons_run_at_the_same_time() {
    let found = jobs(
        "kind = \"skeleton\"\nsend_overhead_ns = 0\n[[traffic.jobs]]\nprogram = \"lammps\"\nranks = 8\n\
         steps = 3\n[[traffic.jobs]]\nprogram = \"kripke\"\nranks = 12\ngrid = [3, 2, 2]\nmapping = \"random\"\n",
    );
    assert_eq!(found.unwrap(), [("lammps", 8, 3), ("kripke", 12, 1)]);
}

/// Georgakoudis IV.C: programs and ranks are drawn so that all ranks together are a given number; short
/// programs run again and again while the longest one does.
#[test]
fn jobs_are_drawn_from_the_seed() {
    let of_seed = |seed: u64, keys: &str| {
        jobs(&format!(
            "kind = \"random-jobs\"\nranks = [16, 32, 64]\n{keys}[run]\nseed = {seed}\n"
        ))
        .unwrap()
    };
    let mut programs = std::collections::BTreeMap::new();
    let mut sizes = std::collections::BTreeMap::new();
    let seeds: Vec<u64> = (0..200).collect();
    for &seed in share(&seeds, 10) {
        let drawn = of_seed(seed, "total_ranks = 496\n");
        assert_eq!(drawn, of_seed(seed, "total_ranks = 496\n"));
    }
    let seeds: Vec<u64> = share(&seeds, 2).copied().collect();
    for &seed in &seeds {
        let drawn = of_seed(seed, "total_ranks = 496\n");
        assert_eq!(drawn.iter().map(|job| job.1).sum::<u32>(), 496);
        for (program, ranks, _) in drawn {
            *programs.entry(program).or_insert(0) += 1;
            *sizes.entry(ranks).or_insert(0) += 1;
        }
    }
    // All are drawn about equally often.
    assert_eq!(programs.len(), 7);
    let (least, most) = (programs.values().min(), programs.values().max());
    assert!(4 * least.unwrap() > 3 * most.unwrap(), "{programs:?}");
    assert_eq!(sizes.keys().copied().collect::<Vec<_>>(), [16, 32, 64]);
    let often = 5 * seeds.len() / 2;
    assert!(sizes.values().all(|count| *count > often), "{sizes:?}");
    // All of the network, if nothing is said. Jobs of 17 ranks take nine nodes of two ranks each.
    assert_eq!(of_seed(1, "").iter().map(|job| job.1).sum::<u32>(), 512);
    let odd = jobs("kind = \"random-jobs\"\nranks = [17]\nranks_per_node = 2\n").unwrap();
    assert_eq!(odd.len(), 512 / 9);
    let sizes: Vec<u32> = (1..=65).collect();
    let refused = jobs(&format!("kind = \"random-jobs\"\nranks = {sizes:?}\n")).unwrap_err();
    let expected = "65 numbers of ranks; at most 64 are drawn from";
    assert!(refused.contains(expected), "{refused}");
    // A miniFE of 10.15 ms a step beside others, for as long as they all take.
    let of_time = |time: &str| of_seed(3, &format!("programs = [\"minife\", \"miniamr\"]\n{time}"));
    let steps = |program: &str, time: &str| -> Vec<u32> {
        let of = of_time(time).into_iter().filter(|job| job.0 == program);
        let mut steps: Vec<u32> = of.map(|job| job.2).collect();
        steps.dedup();
        steps
    };
    assert_eq!(steps("minife", "time_ns = 101500000\n"), [10]);
    assert_eq!(steps("miniamr", "time_ns = 101500000\n"), [16]);
    // The longest step is miniFE's; the other one repeats its own of 6.4 ms.
    assert_eq!(
        (steps("minife", ""), steps("miniamr", "")),
        (vec![1], vec![2])
    );
}

#[test]
fn jobs_that_cannot_be_drawn_are_told() {
    for (keys, expected) in [
        (
            "total_ranks = 300",
            "traffic.total_ranks = 300: is no sum of numbers in `ranks`; take 256 or 512",
        ),
        (
            "total_ranks = 1000",
            "traffic.total_ranks = 1000: the network has room for 512; take 512",
        ),
        (
            "ranks = [1024]",
            "the smallest job has 1024 ranks, and the network has room for 512; take smaller ones, \
             ranks_per_node = 2 or a larger network",
        ),
        // Every job has nodes of its own: five jobs of 3 ranks take ten nodes of two ranks.
        (
            "ranks = [3]\nranks_per_node = 2\ntotal_ranks = 771",
            "traffic.total_ranks = 771: such jobs take 514 nodes at least, each its own, and the network has 512; take 768",
        ),
        (
            "ranks = [4194304]\nranks_per_node = 1023",
            "the smallest job has 4194304 ranks",
        ),
        ("ranks = []", "must have a number of ranks"),
        ("programs = []", "must name a program"),
        ("programs = [\"lamps\"]", "the nearest is \"lammps\""),
        ("mapping = [1, 2]", "must be one of \"linear\", \"random\""),
    ] {
        let error = jobs(&format!("kind = \"random-jobs\"\n{keys}\n")).unwrap_err();
        assert!(error.contains(expected), "{keys}: {error}");
    }
}

#[test]
fn ranks_share_nodes_with_traces_too() {
    let text = "[[traffic.jobs]]\nfile = \"a\"\nranks_per_node = 2\n[[traffic.jobs]]\nfile = \
                \"b\"\nranks_per_node = 3\n";
    let Traffic::Jobs(jobs) = parse(text).unwrap().traffic else {
        panic!("a pattern")
    };
    // Jobs do not share nodes.
    assert_eq!(jobs.place(&[3, 4], 4, 1).unwrap(), [0, 0, 1, 2, 2, 2, 3]);
    let error = jobs.place(&[3, 4], 3, 1).unwrap_err();
    assert!(
        error.contains("folder/b has 4 ranks, and 1 of the network's 3 nodes"),
        "{error}"
    );
    assert!(error.contains("ranks_per_node = 4 or more"), "{error}");
}

/// A frame of 1500 bytes takes as many us as PerfBound Table 2 (1 and 10 Gb/s) and Georgakoudis Table I (25,
/// 40 and 100 Gb/s) print. PerfBound Table 2 has 100 Mb/s, too, with 120 us: ten times those at 1 Gb/s, the
/// slowest link that a scenario can have.
#[test]
fn frames_take_the_times_that_the_papers_print() {
    let time = |gbps: u32| {
        let text = format!("{LEAST}[switch]\nlink_gbps = {gbps}\nmtu_bytes = 1500\n");
        let switch = parse(&text).unwrap().switch;
        u64::from(switch.wire(switch.payload())) * switch.byte_ps
    };
    for (gbps, us) in [(1, 12.0), (10, 1.2), (25, 0.48), (40, 0.30), (100, 0.12)] {
        assert_eq!(time(gbps) as f64 / 1e6, us, "{gbps} Gb/s");
    }
    assert_eq!(10 * time(1), 120_000_000);
}

#[test]
fn every_key() {
    let scenario = parse(
        "[topology]\nkind = \"k-ary-n-tree\"\nk = 2\nn = 2\n\
         [traffic]\nkind = \"goal\"\nfile = \"/a\"\nmapping = [3, 2, 1]\n\
         send_overhead_ns = 1.5\nrecv_overhead_ns = 2\n\
         [switch]\nlink_gbps = 100\nmtu_bytes = 1_500\nmin_packet_bytes = 72\n\
         header_bytes = 8\nqueue_bytes = 0x10000\npfc_stop_bytes = 30000\n\
         pfc_go_bytes = 2000\ncontrol_bytes = 80\nspeedup = 3\ncable_ns = 7.25\n\
         switch_ns = 50\nnic_ns = 120.5\naging = \"network\"\n\
         selection = \"powar\"\nselect_on = 0.75\nselect_off = 0.125\nselect_window_ns = 2000\n\
         link_lanes = 12\nlow_lanes = 2\n\
         [power]\ncontroller = \"port.toml\"\n\
         [energy]\nswitch_w = 100.5\nnode_min_w = 0\nnode_max_w = 300\n\
         [run]\nduration_ns = 1000000\nwarm_up_ns = 10\nsample_ns = 12.5\nseed = 7\n",
    )
    .unwrap();
    let switch = Parameters {
        byte_ps: 80,
        mtu: 1500,
        min_packet: 72,
        header: 8,
        queue: 65536,
        pfc_stop: 30000,
        pfc_go: 2000,
        control: 80,
        speedup_milli: 3000,
        cable_ps: 7250,
        switch_ps: 50_000,
        nic_ps: 120_500,
        aging: Aging::Network,
        selection: Selection::Powar(Thresholds {
            on_millionths: 750_000,
            off_millionths: 125_000,
            window_ps: 2_000_000,
        }),
        queueing: None,
        link_lanes: Some(Lanes { count: 12, low: 2 }),
    };
    assert_eq!(scenario.switch, switch);
    let overheads = Overheads {
        send: 1500,
        recv: 2000,
    };
    let job = Job {
        origin: Origin::Trace("/a".into()),
        mapping: Mapping::List(vec![3, 2, 1]),
        ranks_per_node: 1,
        copies: 1,
        cpu_speed: 1_000_000,
    };
    let jobs = vec![job];
    let expected = Jobs {
        jobs,
        overheads,
        drawn: false,
    };
    assert_eq!(scenario.traffic, Traffic::Jobs(expected));
    assert_eq!(scenario.power, Power::File("folder/port.toml".into()));
    let devices = Devices {
        switch_uw: 100_500_000,
        node_min_uw: 0,
        node_max_uw: 300_000_000,
    };
    assert_eq!(scenario.devices, devices);
    assert_eq!(scenario.duration_ps, Some(1_000_000_000));
    assert_eq!((scenario.warm_up_ps, scenario.seed), (10_000, 7));
    assert_eq!(scenario.sample_ps, Some(12_500));
}

#[test]
fn a_port_configuration_may_stand_inline() {
    let text = format!("{LEAST}[power.port]\npolicy = \"fixed\"\nt_pdt_ns = 100\n");
    let Power::Inline(inline) = parse(&text).unwrap().power else {
        panic!("inline");
    };
    let table: toml::Table = toml::from_str(&inline).unwrap();
    assert_eq!(table["port"]["policy"].as_str(), Some("fixed"));

    // Digits that a binary fraction does not keep.
    let bound = |digits: &str| parse(&format!("{LEAST}[power.perfbound]\nbound = {digits}\n"));
    assert!(bound("0.0123456789012345").is_ok());
    let error = bound("0.010000000000000001").unwrap_err().to_string();
    assert!(
        error.contains("power: a number has more digits than are kept here"),
        "{error}"
    );
}

#[test]
fn errors_name_place_and_remedy() {
    for (text, place, what) in [
        ("", "1:1", "traffic.file is missing: the trace to replay"),
        (
            "[trafic]\n",
            "1:2",
            "trafic: unknown table; the nearest known one is [traffic]",
        ),
        (
            "[traffic]\nfiel = 1\n",
            "2:1",
            "traffic.fiel: unknown key; the nearest known one is `file`",
        ),
        ("[traffic]\nfile = 1\n", "2:8", "traffic.file = 1: must be the name of a file, not a whole number"),
        ("[traffic]\nfile = \"\"\n", "2:8", "traffic.file = \"\": must be the name of a file"),
        (
            "[traffic]\nfile = \"a\"\n[power.port]\ntime_width = 7\n",
            "4:14",
            "power.port.time_width = 7: must be",
        ),
        (
            "[traffic]\nfile = \"a\"\n[power.prt]\ntime_width = 8\n",
            "3:8",
            "power.prt: unknown table; the nearest known one is [power.port]",
        ),
        (
            "[power.port]\npolicy = \"fixed\"\nt_pdt_ns = -5\n[traffic]\nfile = \"a\"\n\
             [power.states]\nwake.power_w = -1\n",
            "3:12",
            "power.port.t_pdt_ns = -5: must be",
        ),
        (
            "[traffic]\nfile = \"a\"\n[power]\nport = { time_width = 32, polcy = 1 }\n",
            "4:27",
            "power.port.polcy: unknown key",
        ),
        (
            "[traffic]\nfile = \"a\"\nfile = \"b\"\n",
            "3:1",
            "duplicate key",
        ),
        ("[traffic\n", "1:9", "expected `]`"),
        ("traffic = 1\n", "1:11", "must be a table"),
        (
            "[topology]\nkind = \"tours\"\n",
            "2:8",
            "topology.kind = \"tours\": must be one of \"single-switch\", \"megafly\", \"rlft\", \"torus\", \
                 \"k-ary-n-tree\", \"dragonfly\", \"rc-dragonfly\", \"hyperx\"; the nearest is \"torus\"",
        ),
        (
            "[topology]\nkind = 3\n",
            "2:8",
            "topology.kind = 3: must be one of",
        ),
        (
            "[topology]\nkind = \"torus\"\nnodes = 4\n",
            "3:1",
            "topology.nodes: [topology] of kind \"torus\" has no such key; it belongs in \
             [topology] of kind \"single-switch\" ([topology] of kind \"torus\" has: kind, dims",
        ),
        (
            "[traffic]\nkind = \"uniform\"\nfile = \"a\"\n",
            "3:1",
            "it belongs in [traffic] of kind \"goal\" or [[traffic.jobs]] ([traffic] of kind \
                 \"uniform\" has: kind, load",
        ),
        (
            "[energy]\nnode_max_w = 700\n[traffic]\nfile = \"a\"\n",
            "2:14",
            "node_max_w = 700, node_min_w = 800",
        ),
        (
            "[run]\nmtu_bytes = 9600\n",
            "2:1",
            "run.mtu_bytes: [run] has no such key; it belongs in [switch] ([run] has:",
        ),
        (
            "[run]\nfoo = 9600\n",
            "2:1",
            "run.foo: unknown key ([run] has:",
        ),
        (
            "[topology]\nkind = \"torus\"\ndims = 4\n",
            "3:8",
            "topology.dims = 4: must be a list of whole numbers from 2 to 64, not a whole number",
        ),
        (
            "[topology]\nkind = \"torus\"\ndims = [4, 1]\n",
            "3:12",
            "topology.dims, 1: must be a whole number from 2 to 64; the nearest legal value is 2",
        ),
        (
            "[topology]\nkind = \"torus\"\ndims = []\n",
            "3:8",
            "topology.dims = []: at least one number",
        ),
        (
            "[topology]\nkind = \"megafly\"\ngroups = 66\n",
            "3:10",
            "connect at most 65 groups; 66 take radix = 18",
        ),
        (
            "[topology]\nkind = \"rlft\"\nradix = 25\n",
            "3:9",
            "topology.radix = 25: it must be even, as half of the ports point up; the nearest are 24 and \
                 26",
        ),
        (
            "[topology]\nkind = \"rlft\"\nradix = 66\n",
            "3:9",
            "must be a whole number from 2 to 64; the nearest legal value is 64",
        ),
        (
            "[topology]\nkind = \"dragonfly\"\n\nglobal_ports = 3\n",
            "4:16",
            "has cables for at most 25 groups; 33 take global_ports = 4",
        ),
        (
            "[topology]\nkind = \"hyperx\"\ndims = [8, 8, 26]\n",
            "3:8",
            "radix is 48: the switches use 51 ports with these parameters",
        ),
        (
            "[topology]\nkind = \"k-ary-n-tree\"\nn = 12\n",
            "3:5",
            "at most 10 levels",
        ),
        (
            "[topology]\nnodes = 65\n",
            "2:9",
            "must be a whole number from 2 to 64; the nearest legal value is 64",
        ),
        ("[topology]\nnodes = -1\n", "2:9", "the nearest legal value is 2"),
        ("[topology]\nnodes = 1.5\n", "2:9", "whole number"),
        (
            "[traffic]\nfile = \"a\"\nmapping = \"rand\"\n",
            "3:11",
            "\"linear\", \"random\" or a list of whole numbers",
        ),
        (
            "[traffic]\nfile = \"a\"\nmapping = [0, 16]\n",
            "3:15",
            "traffic.mapping, 16: must be a node of the network, 0 to 15; the nearest legal value is 15",
        ),
        (
            "[traffic]\nfile = \"a\"\nsend_overhead_ns = 0.0015\n",
            "3:20",
            "the nearest legal values are 0.001 and 0.002",
        ),
        (
            "[traffic]\nfile = \"a\"\nsend_overhead_ns = -1\n",
            "3:20",
            "must be a time from 0 to 1000000000 ns in whole picoseconds; the nearest legal value is 0",
        ),
        (
            "[traffic]\nfile = \"a\"\nsend_overhead_ns = 1e300\n",
            "3:20",
            "must be a time from 0 to 1000000000 ns in whole picoseconds, not",
        ),
        (
            "[traffic]\nfile = \"a\"\nsend_overhead_ns = 1000000000.5\n",
            "3:20",
            "the nearest legal value is 1000000000",
        ),
        (
            "[traffic]\nkind = \"uniform\"\nload = 1.5\n",
            "3:8",
            "traffic.load = 1.5: must be a number from 0.000001 to 1 with at most 6 decimals; the \
                 nearest legal value is 1 (1.5 % is 0.015)",
        ),
        (
            "[traffic]\nkind = \"uniform\"\nload = 0\n",
            "3:8",
            "the nearest legal value is 0.000001",
        ),
        (
            "[traffic]\nkind = \"two-level\"\nload = 0.5\nhigh_load = 0.1\n",
            "4:13",
            "traffic.high_load = 0.1: must be at least load = 0.5 and at most 1; the nearest legal \
                 value is 0.5",
        ),
        (
            "[traffic]\nkind = \"two-level\"\nload = 0.5\n",
            "3:8",
            "the high load is 7 times that, which is more than the link carries; give high_load",
        ),
        (
            "[traffic]\nkind = \"two-level\"\nlow_ns = 0\nhigh_ns = 0\nramp_ns = 0\n",
            "3:10",
            "one of the three must last",
        ),
        (
            "[traffic]\nkind = \"on-off\"\non_ns = 0\n",
            "3:9",
            "the nearest legal value is 0.001",
        ),
        (
            "[traffic]\nkind = \"on-off\"\noff_ns = 0\n",
            "3:10",
            "the nearest legal value is 0.001",
        ),
        (
            // 20 ps a byte, by the load.
            "[traffic]\nkind = \"on-off\"\nload = 0.01\nmessage_bytes = 1000000\non_ns = 1.9\n",
            "5:9",
            "a node must be on for 2000000 ns from one message to the next (the time of a \
             message on the link by the load), more than 1000 times on_ns = 1.9; take at least 2000",
        ),
        (
            "[traffic]\nfile = \"a\"\n[switch]\nlink_gbps = 300\n",
            "4:13",
            "the nearest legal values are 250 and 320",
        ),
        (
            "[traffic]\nfile = \"a\"\n[switch]\ncable_ns = 50\n",
            "3:1",
            "nearest remedies: queue_bytes = 52563",
        ),
        (
            "[traffic]\nfile = \"a\"\n[switch]\nspeedup = 0.5\n",
            "4:11",
            "1 to 1000",
        ),
        (
            "[traffic]\nfile = \"a\"\n[switch]\nspeedup = nan\n",
            "4:11",
            "1 to 1000",
        ),
        (
            "[traffic]\nfile = \"a\"\n[power]\ncontroller = 5\n",
            "4:14",
            "power.controller = 5: must be the name of a file, not a whole number",
        ),
        (
            "[traffic]\nfile = \"a\"\n[power]\n",
            "3:1",
            "power: the table is empty: name a file with power.controller, write the tables",
        ),
        (
            "[traffic]\nfile = \"a\"\n[power.perfbound]\nhops = [[4, 1.0]]\n",
            "4:8",
            "power.perfbound.hops: the hop counts of a network come from its routing: leave this key out",
        ),
        (
            "[traffic]\nfile = \"a\"\n[power]\ncontroller = \"p\"\nport = 1\n",
            "5:1",
            "not both",
        ),
        (
            "[traffic]\nfile = \"a\"\n[run]\nduration_ns = \"1 mas\"\n",
            "4:15",
            "run.duration_ns = \"1 mas\": must be a time from 0 to",
        ),
        // A number that TOML cannot have, beside a configuration that is read once more.
        (
            "[traffic]\nfile = \"a\"\nx = 18446744073709551615\n[power.port]\n",
            "3:1",
            "traffic.x: unknown key",
        ),
        (
            "[traffic]\nfile = \"a\"\n[run]\nseed = 9223372036854775808\n[power.port]\n",
            "4:8",
            "run.seed = 9223372036854775808: must be",
        ),
        (
            "[traffic]\nfile = \"a\"\n[run]\nseed = -1\n",
            "4:8",
            "the nearest legal value is 0",
        ),
    ] {
        let message = parse(text).unwrap_err();
        let place = format!("folder/test.toml:{place}: ");
        let expected = |line: &str| line.starts_with(&place) && line.contains(what);
        assert!(message.lines().any(expected), "{text:?}: {message}");
    }
}

#[test]
fn the_files_that_a_scenario_names_are_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let path = at("s.toml");
    let text = "[traffic]\nfile = \"a\"\n[power]\ncontroller = \"port.toml\"\n";
    std::fs::write(&path, text).unwrap();
    let message = || Scenario::load(&path).unwrap_err().to_string();
    let place = |place: &str| format!("{}:{place}: ", path.display());
    // A missing trace is told with the scenario and its line, beside the other faults.
    let missing = message();
    let lines: Vec<&str> = missing.lines().collect();
    let trace = format!(
        "{}traffic.file = \"a\": the trace {}",
        place("2:8"),
        at("a").display()
    );
    assert!(lines[0].starts_with(&trace), "{missing}");
    assert!(
        lines[0].contains("cannot be read: No such file"),
        "{missing}"
    );
    let controller = place("4:14") + "power.controller = \"port.toml\": ";
    assert!(lines[1].starts_with(&controller), "{missing}");
    assert!(lines[1].contains("port.toml: cannot read"), "{missing}");
    std::fs::write(at("a"), "").unwrap();
    let port = at("port.toml");
    std::fs::write(&port, "[port]\ntime_width = 7\n").unwrap();
    assert!(message().contains("port.toml:2:14: "), "{}", message());
    std::fs::write(&port, "").unwrap();
    assert_eq!(Scenario::load(&path).unwrap().power, Power::File(port));
    // Each of several jobs.
    let job = "[[traffic.jobs]]\nfile = \"b\"\n";
    std::fs::write(&path, job.repeat(2)).unwrap();
    let missing = message();
    for line in ["2:8", "4:8"] {
        let expected = place(line) + "traffic.jobs.file = \"b\": the trace ";
        assert!(missing.contains(&expected), "{missing}");
    }
}

#[test]
fn all_faults_of_a_scenario_come_at_once() {
    let text = "[topology]\nkind = \"torus\"\ndims = [4, 1]\n[traffic]\nkind = \"two-level\"\n\
                load = 30\nhigh_load = 2\nlod = 1\n[switch]\nlink_gbps = 300\naging = \"old\"\n\
                [power.port]\ntime_width = 7\npolcy = 1\n[energy]\nswitch_w = -1\n[run]\n\
                duration_ns = 5\nwarm_up_ns = 6\n";
    let message = parse(text).unwrap_err();
    let places: Vec<&str> = message
        .lines()
        .map(|line| line.strip_prefix("folder/test.toml:").unwrap())
        .map(|line| line.split(": ").next().unwrap())
        .collect();
    let expected = [
        "3:12", "6:8", "7:13", "8:1", "10:13", "11:9", "13:14", "14:1", "16:12", "19:14",
    ];
    assert_eq!(places, expected, "{message}");
}

/// Some of a link's lanes stay on, but not all.
#[test]
fn links_have_lanes() {
    let with = |switch: &str| {
        let text = format!("{LEAST}[topology]\nkind = \"single-switch\"\n[switch]\n{switch}\n");
        parse(&text).map(|scenario| scenario.switch.link_lanes)
    };
    assert_eq!(with(""), Ok(None));
    assert_eq!(
        with("link_lanes = 12"),
        Ok(Some(Lanes { count: 12, low: 1 }))
    );
    let refused = |switch: &str| with(switch).unwrap_err();
    assert!(refused("low_lanes = 2").contains("low_lanes = 2: only links that have `link_lanes`"));
    let all = refused("link_lanes = 4\nlow_lanes = 4");
    assert!(
        all.contains("low_lanes = 4: must be fewer than the 4 lanes of a link"),
        "{all}"
    );
    assert!(refused("link_lanes = 1").contains("link_lanes = 1"));
}

/// Buffers have the queues of a scheme, with the numbers of Zahn III.C, where the scheme has numbers and
/// the network is one that it is made for.
#[test]
fn buffers_have_queues() {
    let of = |kind: &str, switch: &str| {
        let text = format!("{LEAST}[topology]\nkind = \"{kind}\"\n[switch]\n{switch}\n");
        parse(&text).map(|scenario| scenario.switch.queueing)
    };
    let tree = |switch: &str| of("k-ary-n-tree", switch);
    assert_eq!(tree(""), Ok(None));
    assert_eq!(tree("queueing = \"voq\""), Ok(None));
    for (name, scheme) in [
        ("1q", Queueing::One),
        ("dbbm", Queueing::ByDestination { queues: 4 }),
        ("flow2sl", Queueing::ByGroups { queues: 4 }),
    ] {
        assert_eq!(tree(&format!("queueing = \"{name}\"")), Ok(Some(scheme)));
        assert_eq!(scheme.name(), name);
    }
    let levels = |queues, escape_queues| Queueing::TwoLevels {
        queues,
        escape_queues,
    };
    let room = "queueing = \"h2lq\"\nqueue_bytes = 100000\n";
    assert_eq!(of("dragonfly", room), Ok(Some(levels(6, 2))));
    let more = format!("{room}queues = 5\nescape_queues = 3");
    assert_eq!(of("dragonfly", &more), Ok(Some(levels(5, 3))));
    // POWAR 3, on a network of one cable between neighbours, too.
    let duato = "queueing = \"duato\"\nselection = \"powar\"";
    assert_eq!(
        of("torus", duato),
        Ok(Some(Queueing::Adaptive { queues: 2 }))
    );
    let more = format!("{duato}\nqueues = 3");
    assert_eq!(
        of("hyperx", &more),
        Ok(Some(Queueing::Adaptive { queues: 3 }))
    );
    for (kind, switch, message) in [
        (
            "torus",
            "queueing = \"duato\"",
            "give selection = \"round-robin\"",
        ),
        ("k-ary-n-tree", duato, "needs no virtual channels"),
        ("k-ary-n-tree", "queueing = \"2q\"", "queueing = \"2q\""),
        (
            "k-ary-n-tree",
            "queues = 2",
            "queues = 2: only queueing = \"dbbm\"",
        ),
        (
            "k-ary-n-tree",
            "queueing = \"1q\"\nqueues = 2",
            "queues = 2: only",
        ),
        (
            "k-ary-n-tree",
            "queueing = \"dbbm\"\nescape_queues = 2",
            "escape_queues = 2: only queueing = \"h2lq\" has it",
        ),
        (
            "k-ary-n-tree",
            "queueing = \"iodet\"",
            "iodet is made for networks with dimensions",
        ),
        ("torus", "queueing = \"voqsw\"", "each of the"),
        (
            "k-ary-n-tree",
            "queueing = \"1q\"\nselection = \"first-on\"",
            "give selection = \"fixed\"",
        ),
    ] {
        let error = of(kind, switch).unwrap_err();
        assert!(error.contains(message), "{switch}: {error}");
    }
}

/// Where every packet has one way, nothing can be selected; only POWAR and Alonso have thresholds, and
/// only fat trees Alonso's links.
#[test]
fn a_selection_needs_several_ways() {
    let with = |topology: &str, switch: &str| {
        let text = format!("{LEAST}[topology]\n{topology}\n[switch]\n{switch}\n");
        parse(&text).map(|scenario| scenario.switch.selection)
    };
    let tree = "kind = \"k-ary-n-tree\"\nk = 4\nn = 3";
    for (topology, several) in [
        (tree, true),
        ("kind = \"rlft\"\nradix = 8\nlevels = 3", true),
        ("kind = \"torus\"\nports_per_link = 2", true),
        ("kind = \"torus\"\nports_per_link = 1", false),
        ("kind = \"dragonfly\"", false),
    ] {
        let found = with(topology, "selection = \"first-on\"");
        match several {
            true => assert_eq!(found, Ok(Selection::FirstOn), "{topology}"),
            false => assert!(found.unwrap_err().contains("one way only"), "{topology}"),
        }
        assert_eq!(with(topology, ""), Ok(Selection::Fixed), "{topology}");
    }
    let powar = with(tree, "selection = \"powar\"");
    assert_eq!(powar, Ok(Selection::Powar(Thresholds::DEFAULT)));
    let alonso = with(
        tree,
        "selection = \"alonso\"\nselect_on = 0.65\nselect_off = 0.3",
    );
    let thresholds = Thresholds {
        on_millionths: 650_000,
        off_millionths: 300_000,
        ..Thresholds::DEFAULT
    };
    assert_eq!(alonso, Ok(Selection::Alonso(thresholds)));
    let several = "kind = \"torus\"\nports_per_link = 2";
    let turned = with(several, "selection = \"alonso\"");
    assert_eq!(turned, Ok(Selection::Alonso(Thresholds::DEFAULT)));
    let megafly = with("kind = \"megafly\"", "selection = \"alonso\"");
    assert!(megafly.unwrap_err().contains("one way only"));
    for (switch, says) in [
        ("select_on = 0.6", "\"powar\""),
        ("selection = \"first-on\"\nselect_window_ns = 9", "POWAR"),
        ("selection = \"powar\"\nselect_off = 0.26", "at most 0.25"),
        ("selection = \"powar\"\nselect_on = 1", "below 1"),
        ("selection = \"powar\"\nselect_off = 0", "above 0"),
        ("selection = \"powr\"", "the nearest is \"powar\""),
    ] {
        let error = with(tree, switch).unwrap_err();
        assert!(error.contains(says), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn every_pattern() {
    let pattern = |text: &str| match parse(&format!("[traffic]\n{text}")).unwrap().traffic {
        Traffic::Pattern(pattern) => pattern,
        Traffic::Jobs(jobs) => panic!("{jobs:?}"),
    };
    let uniform = pattern("kind = \"uniform\"\nload = 0.25\nmessage_bytes = 20_000\n");
    assert_eq!(uniform.destinations, Destinations::Uniform);
    assert_eq!(uniform.arrivals, Arrivals::Steady { load: 0.25 });
    // Two packets of 9600 bytes and one of 800, 20 ps a byte.
    assert_eq!(uniform.message_ps, 400_000);
    let hotspot = pattern("kind = \"hotspot\"\nhot_nodes = [3, 4]\n");
    let refused = |text: &str| {
        let text = format!("[traffic]\n{text}");
        parse(&text).unwrap_err().to_string()
    };
    let error = refused("kind = \"hotspot\"\nhot_nodes = [0, 3, 0]\n");
    assert!(
        error.contains(":3:20: ") && error.contains("node 0 is listed twice"),
        "{error}"
    );
    // Of 8 nodes the eighth part is one, the last: it sends to no other hot node if it is the hot one.
    for (hot, senders) in [(0, 0.1249), (7, 0.125)] {
        let nodes = "[topology]\nkind = \"single-switch\"\nnodes = 8\n";
        let hotspot = |senders: f64| {
            parse(&format!(
                "[traffic]\nkind = \"hotspot\"\nhot_nodes = [{hot}]\nhot_senders = {senders}\n\
                 [run]\nduration_ns = 1000\n{nodes}"
            ))
        };
        let error = hotspot(senders).unwrap_err().to_string();
        assert!(
            error.contains(":4:15: ") && error.contains("take 0.25 or more"),
            "{error}"
        );
        assert!(hotspot(0.25).is_ok());
    }
    // 2^40 bytes in packets of 9,600 at 1 Gb/s: 8,796 s and more.
    let long = "message_bytes = 1099511627776\n[switch]\nlink_gbps = 1\n";
    let error = refused(&format!("kind = \"uniform\"\n{long}"));
    assert!(
        error.contains("may take at most 1000000000000 ns"),
        "{error}"
    );
    // zahn: a quarter of the nodes.
    let destinations = Destinations::Hotspot {
        nodes: vec![3, 4],
        senders_millionths: 250_000,
    };
    assert_eq!(hotspot.destinations, destinations);
    // Alonso: seven times the low load.
    let two_level = pattern("kind = \"two-level\"\nload = 0.1\nramp_ns = 5\n");
    let Arrivals::TwoLevel {
        low, high, ramp_ps, ..
    } = two_level.arrivals
    else {
        panic!("{two_level:?}");
    };
    assert_eq!((low, high, ramp_ps), (0.1, 0.7, 5000));
    // The same number, written in several ways.
    for text in ["20_000.5", "2.00005e4", "+20000500e-3"] {
        let scenario = parse(&format!("{LEAST}[run]\nduration_ns = {text}\n")).unwrap();
        assert_eq!(scenario.duration_ps, Some(20_000_500), "{text}");
    }
    let on_off = pattern("kind = \"on-off\"\nload = 1\non_ns = 2\noff_ns = 3\n");
    let arrivals = Arrivals::OnOff {
        load: 1.0,
        on_ps: 2000,
        off_ps: 3000,
    };
    assert_eq!(on_off.arrivals, arrivals);
    let mlwf = pattern("kind = \"inactivity\"\nshape = \"mlwf\"\nidle_scale = 0.25\n");
    let arrivals = Arrivals::Inactivity {
        shape: Application::Mlwf,
        scale: 0.25,
    };
    assert_eq!(mlwf.arrivals, arrivals);
    for (text, what) in [
        ("shape = \"mwlf\"\n", "mlwf"),
        ("", "traffic.shape is missing"),
    ] {
        let text = format!("[traffic]\nkind = \"inactivity\"\n{text}");
        let message = parse(&text).unwrap_err().to_string();
        assert!(message.contains(what), "{message}");
    }
}

#[test]
fn several_jobs_share_the_nodes() {
    let text = "[traffic]\n[[traffic.jobs]]\nfile = \"a\"\nmapping = [1, 5]\n\
                [[traffic.jobs]]\nfile = \"b\"\n\
                [[traffic.jobs]]\nfile = \"c\"\nmapping = \"random\"\n";
    let Traffic::Jobs(jobs) = parse(text).unwrap().traffic else {
        panic!("jobs");
    };
    let place = |seed| jobs.place(&[2, 3, 4], 16, seed).unwrap();
    let placed = place(1);
    assert_eq!(placed[..5], [1, 5, 0, 2, 3]);
    let mut all = placed.clone();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 9, "{placed:?}");
    assert_eq!(placed, place(1));
    assert!((2..9).any(|seed| place(seed)[5..] != placed[5..]));
    let error = jobs.place(&[2, 3, 12], 16, 1).unwrap_err();
    assert!(
        error.contains("folder/c has 12 ranks, and 11 of"),
        "{error}"
    );
    let error = jobs.place(&[3, 3, 4], 16, 1).unwrap_err();
    assert!(error.contains("places 2 ranks, folder/a has 3"), "{error}");
    // Lists may put several ranks of a job on a node, but not those of two jobs.
    let list = |file: &str| format!("[[traffic.jobs]]\nfile = \"{file}\"\nmapping = [2, 2]\n");
    for other in ["", "mapping = [1, 2]\n", "mapping = \"random\"\n"] {
        let text = format!("[[traffic.jobs]]\nfile = \"a\"\n{other}{}", list("b"));
        let Traffic::Jobs(jobs) = parse(&text).unwrap().traffic else {
            panic!("jobs");
        };
        // Where the mapping does not say so, the job is as large as the network.
        let ranks = if other.contains('[') { 2 } else { 16 };
        let error = jobs.place(&[ranks, 2], 16, 1).unwrap_err();
        assert!(
            error.contains("of folder/b names node 2, where ranks of folder/a"),
            "{error}"
        );
    }
    let text = list("a");
    let Traffic::Jobs(jobs) = parse(&text).unwrap().traffic else {
        panic!("jobs");
    };
    assert_eq!(jobs.place(&[2], 16, 1).unwrap(), [2, 2]);
}

#[test]
fn jobs_run_on_processors_of_their_own_speed() {
    let speeds = |text: &str| match parse(text).unwrap().traffic {
        Traffic::Jobs(jobs) => jobs.jobs.iter().map(|job| job.cpu_speed).collect(),
        Traffic::Pattern(_) => Vec::new(),
    };
    assert_eq!(speeds(&format!("{LEAST}cpu_speed = 2.5")), [2_500_000]);
    let job = |keys: &str| format!("[[traffic.jobs]]\nfile = \"a\"\n{keys}\n");
    let text = job("cpu_speed = 1000") + &job("") + &job("cpu_speed = 0.001");
    assert_eq!(speeds(&text), [1_000_000_000, 1_000_000, 1000]);
    for wrong in [
        "0", "-1", "-0.5", "nan", "inf", "1000.1", "1e300", "0.0009", "\"2\"",
    ] {
        for text in [
            format!("{LEAST}cpu_speed = {wrong}"),
            job(&format!("cpu_speed = {wrong}")),
        ] {
            let error = parse(&text).unwrap_err();
            let what = "must be a number from 0.001 to 1000 with at most 6 decimals";
            assert!(
                error.starts_with("folder/test.toml:3:13: ") && error.contains(what),
                "{error}"
            );
        }
    }
    let both = "[traffic]\ncpu_speed = 2\n".to_owned() + &job("");
    let error = parse(&both).unwrap_err();
    assert!(
        error.contains("traffic.cpu_speed = 2: cannot stand beside `jobs`"),
        "{error}"
    );
}

#[test]
fn every_copy_of_a_job_takes_nodes_of_its_own() {
    let job = |keys: &str| format!("[[traffic.jobs]]\nfile = \"a\"\n{keys}\n");
    let text = job("copies = 3\nmapping = \"random\"") + &job("copies = 2");
    let Traffic::Jobs(jobs) = parse(&text).unwrap().traffic else {
        panic!("jobs");
    };
    let placed = jobs.place(&[4, 4, 4, 2, 2], 16, 1).unwrap();
    let mut all = placed.clone();
    all.sort_unstable();
    assert_eq!(all, (0..16).collect::<Vec<u32>>());
    // Copies are drawn one after the other, as jobs of their own would be.
    let single = job("mapping = \"random\"").repeat(3) + &job("").repeat(2);
    let Traffic::Jobs(single) = parse(&single).unwrap().traffic else {
        panic!("jobs");
    };
    assert_eq!(single.place(&[4, 4, 4, 2, 2], 16, 1).unwrap(), placed);
    let error = jobs.place(&[4, 4, 4, 2, 3], 16, 1).unwrap_err();
    assert!(error.contains("a has 3 ranks, and 2 of"), "{error}");
    for (keys, what) in [
        ("copies = 0", "the nearest legal value is 1"),
        (
            "copies = 17",
            "must be a whole number from 1 to 16, as every copy",
        ),
        (
            "copies = 2\nmapping = [0, 1]",
            "copies of a job whose mapping is a list would share its nodes",
        ),
    ] {
        let error = parse(&job(keys)).unwrap_err();
        assert!(
            error.starts_with("folder/test.toml:3:10: ") && error.contains(what),
            "{error}"
        );
    }
}

#[test]
fn values_take_the_places_of_the_scenario_s_own() {
    let parse = |text: &str, variation: &Variation| {
        Scenario::parse_varied(text, variation, Path::new("s.toml"))
    };
    let plain = |text: &str| Scenario::parse(text, Path::new("s.toml")).unwrap();
    let loads = Variation {
        load: Some(0.05),
        seed: Some(9),
        ..Variation::default()
    };
    // What depends on the load follows: the high one is 7 times as much.
    let pattern = |load: &str, run: &str| {
        format!("[traffic]\nkind = \"two-level\"\n{load}[switch]\nspeedup = 2.44\n{run}")
    };
    let expected = plain(&pattern("load = 0.05\n", "[run]\nseed = 9\n"));
    for (load, run) in [("", ""), ("load = 0.1\n", "[run]\nseed = 1\n")] {
        assert_eq!(parse(&pattern(load, run), &loads).unwrap(), expected);
    }
    let random = Variation {
        mapping: Some("random"),
        ..Variation::default()
    };
    let jobs = |mapping: &str| {
        let job = format!("[[traffic.jobs]]\nfile = \"a\"\n{mapping}");
        format!("[traffic]\nkind = \"goal\"\n{job}{job}")
    };
    let expected = plain(&jobs("mapping = \"random\"\n"));
    for mapping in ["", "mapping = \"linear\"\n", "mapping = [0, 1]\n"] {
        assert_eq!(parse(&jobs(mapping), &random).unwrap(), expected);
    }
    let single = "[traffic]\nfile = \"a\"\n";
    let expected = plain(&format!("{single}mapping = \"random\"\n"));
    assert_eq!(parse(single, &random).unwrap(), expected);
    // Keys that the scenario cannot have.
    for (text, variation) in [(single, &loads), (&*pattern("", ""), &random)] {
        let error = parse(text, variation).unwrap_err().to_string();
        assert!(error.contains("has no such key"), "{error}");
    }
    let much = Variation {
        load: Some(0.2),
        ..Variation::default()
    };
    let error = parse(&pattern("", ""), &much).unwrap_err().to_string();
    assert!(error.contains("the high load is 7 times that"), "{error}");
}

#[test]
fn any_key_takes_the_place_of_the_scenario_s_own() {
    let parse = |text: &str, keys: &str| {
        let keys = keys.lines().map(|line| {
            let (path, value) = line.split_once(" = ").unwrap();
            let value: toml::Table = format!("value = {value}").parse().unwrap();
            (path.to_owned(), value["value"].clone())
        });
        let variation = Variation {
            keys: keys.collect(),
            ..Variation::default()
        };
        Scenario::parse_varied(text, &variation, Path::new("s.toml"))
    };
    let plain = |text: &str| Scenario::parse(text, Path::new("s.toml")).unwrap();
    let uniform = "[traffic]\nkind = \"uniform\"\nload = 0.1\n";
    for (text, keys, expected) in [
        // A table that is there, and one that is not.
        (
            "[switch]\nmtu_bytes = 4096\nspeedup = 2\n",
            "switch.mtu_bytes = \"2 KiB\"\nenergy.switch_w = 100",
            "[switch]\nmtu_bytes = 2048\nspeedup = 2\n[energy]\nswitch_w = 100\n",
        ),
        // Another kind of network has none of the keys of the one that is there.
        (
            "[topology]\nkind = \"dragonfly\"\ngroups = 9\nswitches_per_group = 4\n\
             nodes_per_switch = 2\nglobal_ports = 2\n",
            "topology.kind = \"k-ary-n-tree\"\ntopology.k = 2\ntopology.n = 3",
            "[topology]\nkind = \"k-ary-n-tree\"\nk = 2\nn = 3\n",
        ),
        // The same kind keeps them.
        (
            "[topology]\nkind = \"k-ary-n-tree\"\nk = 4\nn = 3\n",
            "topology.kind = \"k-ary-n-tree\"\ntopology.n = 2",
            "[topology]\nkind = \"k-ary-n-tree\"\nk = 4\nn = 2\n",
        ),
        // A file takes the place of all that stands in [power].
        (
            "[power]\nport.policy = \"fixed\"\n",
            "power.controller = \"port.toml\"\npower.histogram.bins = 32",
            "[power]\ncontroller = \"port.toml\"\n",
        ),
    ] {
        let varied = parse(&format!("{uniform}{text}"), keys).unwrap();
        assert_eq!(varied, plain(&format!("{uniform}{expected}")), "{keys}");
    }
    // A list, whose values have no place in the text.
    let error = parse(
        uniform,
        "topology.kind = \"torus\"\ntopology.dims = [4, -1]",
    );
    let error = error.unwrap_err().to_string();
    assert!(error.contains("topology.dims, -1: must be"), "{error}");
    // Tables in a list, likewise: here a key that no job has, longer than the whole text.
    let long = "x".repeat(1000);
    let error = parse(
        uniform,
        &format!("traffic.kind = \"goal\"\ntraffic.jobs = [{{ file = \"a\", \"{long}\" = 1 }}]"),
    );
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains(&long) && error.contains("unknown key"),
        "{error}"
    );
    let error = parse(
        uniform,
        "traffic.kind = \"goal\"\ntraffic.jobs = [{ file = \"a\", copies = 0 }]",
    );
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("traffic.jobs.copies = 0: must be"),
        "{error}"
    );
}
