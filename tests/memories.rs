//! Memories of another make in the place of `ram_1r1w.v`: those that keep its promises make no
//! difference, whatever they do where a read meets a write; those that break them are found.

use std::fs;

use rayon::prelude::*;

use crate::common::{linkdoze, run, share};

/// Every memory that there is: the ring, the counters and their groups of a circular histogram, the
/// outcomes and ratios of a long history, the packets of every hop count.
const CONFIG: &str = "\
[clock]
tick_ns = 3
[port]
time_width = 16
policy = \"perfbound-correct\"
sleep = \"deep-sleep\"
t_pdt_init_ns = 600
sync = \"levels\"
registers = true
[states.deep-sleep]
t_w_ns = 90
t_s_ns = 60
[histogram]
kind = \"circular\"
bins = 32
bin_ns = 48
counter_bits = 8
max_samples = 40
max_value_ns = 1536
[perfbound]
bound = 0.2
hops = \"measured\"
hop_window = 16
[correction]
history = 130
";

/// The statement of the emitted file that reads.
const READS: &str = "\
    if (write_enable & (write_address == read_address)) begin
      read_data <= {WIDTH{1'bx}};
    end else begin
      read_data <= words[read_address];
    end
";

/// The one that writes.
const WRITES: &str = "      words[write_address] <= write_data;\n";

#[test]
fn memories_of_another_make_fit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("port.toml"), CONFIG).unwrap();
    run(
        linkdoze(path).args(["generate", "port.toml", "-o", "rtl"]),
        0,
    );
    let meets = "(write_enable & (write_address == read_address)) ?";
    let makes = [
        (
            "gives neither",
            READS,
            format!("    read_data <= {meets} ~write_data : words[read_address];\n"),
            0,
        ),
        (
            "gives the old word",
            READS,
            "    read_data <= words[read_address];\n".to_owned(),
            0,
        ),
        ("never writes", WRITES, String::new(), 1),
        (
            "gives the new word",
            READS,
            format!("    read_data <= {meets} write_data : words[read_address];\n"),
            0,
        ),
        (
            "loses the highest bit",
            WRITES,
            "      words[write_address] <= write_data & ({WIDTH{1'b1}} >> (WIDTH > 1));\n"
                .to_owned(),
            1,
        ),
    ];
    let makes = share(&makes, 2);
    makes.par_iter().for_each(|(make, from, to, status)| {
        let own = path.join(make.replace(' ', "-"));
        fs::create_dir(&own).unwrap();
        for file in fs::read_dir(path.join("rtl")).unwrap() {
            let file = file.unwrap().path();
            if file.extension().is_none_or(|it| it != "v") {
                continue;
            }
            let mut text = fs::read_to_string(&file).unwrap();
            if file.ends_with("ram_1r1w.v") {
                assert!(text.contains(from), "{text}");
                text = text.replace(from, to);
            }
            fs::write(own.join(file.file_name().unwrap()), text).unwrap();
        }
        let name = own.to_str().unwrap();
        let (out, _) = run(
            linkdoze(path).args([
                "cosim",
                "port.toml",
                "--random",
                "--cycles",
                "2000000",
                "--no-wave",
                "--rtl",
                name,
            ]),
            *status,
        );
        println!("{make}: {}", out.lines().next().unwrap_or_default());
    });
}
