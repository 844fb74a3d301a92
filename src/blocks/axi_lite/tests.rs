//! Lock-step test: description against golden model, under a manager that may do anything,
//! also what the standard forbids.

use proptest::prelude::*;

use super::golden::{self, Answer, Inputs, Outputs, Request};
use super::AxiLite;
use crate::blocks::testing::{cases, Bench};
use crate::hdl::check;

/// The pins of a manager's cycle.
fn pins(inputs: &Inputs) -> [(&'static str, u64); 9] {
    let (data, strobe) = inputs.w.unwrap_or_default();
    [
        ("awvalid", inputs.aw.is_some().into()),
        ("awaddr", inputs.aw.unwrap_or(0).into()),
        ("wvalid", inputs.w.is_some().into()),
        ("wdata", data.into()),
        ("wstrb", strobe.into()),
        ("bready", inputs.b_ready.into()),
        ("arvalid", inputs.ar.is_some().into()),
        ("araddr", inputs.ar.unwrap_or(0).into()),
        ("rready", inputs.r_ready.into()),
    ]
}

/// The pins that answer it.
fn answers(outputs: &Outputs) -> [(&'static str, u64); 8] {
    [
        ("awready", outputs.aw_ready.into()),
        ("wready", outputs.w_ready.into()),
        ("bvalid", outputs.b_valid.into()),
        ("bresp", outputs.b_response.into()),
        ("arready", outputs.ar_ready.into()),
        ("rvalid", outputs.r_valid.into()),
        ("rdata", outputs.r_data.into()),
        ("rresp", outputs.r_response.into()),
    ]
}

fn maybe<T: Clone + std::fmt::Debug + 'static>(
    of: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = Option<T>> {
    prop::option::weighted(0.6, of)
}

proptest! {
    #![proptest_config(cases(180))]

    #[test]
    fn description_and_golden_model_agree(
        cycles in prop::collection::vec(
            (
                maybe(0u32..4096),
                maybe((any::<u32>(), 0u8..16)),
                any::<bool>(),
                maybe(0u32..4096),
                any::<bool>(),
                any::<u32>(),
                0u8..4,
            ),
            1..300,
        ),
    ) {
        let mut golden = golden::AxiLite::default();
        let mut bench = Bench::new(AxiLite::new(12));
        for (cycle, (aw, w, b_ready, ar, r_ready, data, response)) in (0..).zip(cycles) {
            let inputs = Inputs { aw, w, b_ready, ar, r_ready };
            bench.drive(&pins(&inputs));
            bench.drive(&[("read_data", data.into()), ("answer", response.into())]);
            bench.check(cycle, &answers(&golden.outputs()))?;
            let request = golden.request();
            bench.check(cycle, &[("request", request.is_some().into())])?;
            let ahead = golden.ahead();
            bench.check(cycle, &[("ahead", ahead.is_some().into())])?;
            if let Some((word, write)) = ahead {
                bench.check(cycle, &[("word", word.into()), ("write", write.into())])?;
            }
            match request {
                Some(Request::Read { word }) => {
                    bench.check(cycle, &[("write", 0), ("word", word.into())])?;
                }
                Some(Request::Write { word, data, strobe }) => bench.check(cycle, &[
                    ("write", 1),
                    ("word", word.into()),
                    ("write_data", data.into()),
                    ("write_strobe", strobe.into()),
                ])?,
                None => {}
            }
            bench.clock();
            golden.clock(&inputs, Answer { data, response });
        }
    }

    /// What AXI4 asks of a subordinate (IHI 0022, A3.2.1, A3.3.1): an answer stays until it
    /// is taken, every transfer is answered once, and no write before its address and data.
    #[test]
    fn every_transfer_is_answered_once_and_answers_stay(
        stalls in prop::collection::vec((any::<[bool; 5]>(), any::<u32>()), 400),
    ) {
        let mut port = golden::AxiLite::default();
        let mut present = Inputs::default();
        let (mut addresses, mut data, mut answered_writes) = (0, 0, 0);
        let (mut read_addresses, mut answered_reads) = (0, 0);
        // The last cycles let everything through.
        for (cycle, (stall, value)) in stalls.iter().enumerate() {
            let ends = cycle >= 350;
            if present.aw.is_none() && stall[0] && !ends {
                present.aw = Some(value % 4096);
            }
            if present.w.is_none() && stall[1] && !ends {
                present.w = Some((*value, 15));
            }
            if present.ar.is_none() && stall[2] && !ends {
                present.ar = Some(value % 4096);
            }
            present.b_ready = stall[3] || ends;
            present.r_ready = stall[4] || ends;
            let before = port.outputs();
            prop_assert!(!before.b_valid || answered_writes < addresses.min(data));
            port.clock(&present, Answer { data: *value, response: 0 });
            let after = port.outputs();
            if before.b_valid && !present.b_ready {
                prop_assert!(after.b_valid);
                prop_assert_eq!(after.b_response, before.b_response);
            }
            if before.r_valid && !present.r_ready {
                prop_assert!(after.r_valid);
                prop_assert_eq!(after.r_data, before.r_data);
                prop_assert_eq!(after.r_response, before.r_response);
            }
            answered_writes += usize::from(before.b_valid && present.b_ready);
            answered_reads += usize::from(before.r_valid && present.r_ready);
            if before.aw_ready && present.aw.take().is_some() {
                addresses += 1;
            }
            if before.w_ready && present.w.take().is_some() {
                data += 1;
            }
            if before.ar_ready && present.ar.take().is_some() {
                read_addresses += 1;
            }
        }
        prop_assert_eq!(answered_writes, addresses.min(data));
        prop_assert_eq!(answered_reads, read_addresses);
    }
}

#[test]
fn emitted_verilog_agrees_with_the_description() {
    check::agrees_with_verilog(|| AxiLite::new(12), 4000, 1).unwrap();
}

#[test]
fn emitted_verilog_is_lint_clean() {
    check::lint_block(&AxiLite::new(12)).unwrap();
}
