//! Mutation: what the co-simulation finds of faults that were put into the hardware on purpose.
//!
//! Every version of the Verilog with one fault ([`crate::hdl::mutants`]) is run in lock step with
//! the golden model, under the random activity of `cosim --random`. A fault that shows is
//! *killed*. Of one that does not, solvers are asked whether it is *equivalent*: whether it is no
//! fault at all. What is left *survives*: something that the co-simulation does not see.

mod herd;
mod part;
mod results;

use anyhow::{Context, Result};
use rayon::prelude::*;

pub use part::{part_faults, PartFaults};
pub use results::{Fate, Results, Tested};

use crate::config::Config;
use crate::cosim::port::PortDesign;
use crate::cosim::random::Random;
use crate::cosim::verilator::Compiled;
use crate::cosim::{Design as _, LockStep};
use crate::hdl::mutants::{choosable, mutants, Kind, Mutant};
use crate::hdl::verilog::{self, Header};
use crate::hdl::Design;
use crate::rtl;
use crate::synth::netlist::{self, Memories, Verdict};
use crate::verify::equivalence::{versions_task, Known, Versions};
use crate::verify::{ProofTask, Tools};
use herd::Herd;

/// Faults that are compiled into one model.
pub const PART: usize = 200;

/// How many seconds of processor time ABC may think about one fault in the module that it is in, and in
/// the whole port. Before, it looks for what the two have in common, for half a minute and five times as
/// long at most.
const ABC_TIMEOUTS: [u64; 2] = [3, 10];

/// ABC is asked about the module of a fault that has not shown in the first of so many shares of the
/// cycles.
const FIRST_SHARE: u64 = 16;

/// What takes long is asked about the whole port only if it has no more bits of state. With registers
/// it has some 4,200. There every question to ABC, and every one about several cycles, takes all of its
/// time; and the search for what holds of the port comes to no end.
const MOST_STATE_BITS: u64 = 3_000;

/// Who says whether a fault is one.
pub struct Provers {
    /// Equal from every state that the claims of the design allow, after some cycles in the same
    /// state again.
    pub induction: Tools,
    /// Equal in all states that come about. It takes longer, and is asked last.
    pub reachability: netlist::Prover,
}

/// A configuration, its design, and the faults to be tried.
pub struct Campaign {
    port: PortDesign,
    design: Design,
    known: Known,
    /// What is tried.
    pub mutants: Vec<Mutant>,
    /// Clocked cycles of the run.
    pub cycles: u64,
    /// The seed of its random activity.
    pub seed: u64,
}

impl Campaign {
    /// Every fault of the modules of `config`, or of the modules `only` if there are any; of these one
    /// in `step`.
    ///
    /// # Errors
    /// If the configuration has no hardware, or no module of that name.
    pub fn new(
        config: &Config,
        only: &[String],
        step: usize,
        cycles: u64,
        seed: u64,
    ) -> Result<Campaign> {
        let design = rtl::design(config)?;
        let mut mutants = mutants(&design);
        let mut names: Vec<String> = mutants.iter().map(|it| it.module.clone()).collect();
        names.dedup();
        if let Some(unknown) = only.iter().find(|module| !names.contains(module)) {
            anyhow::bail!(
                "there is no module `{unknown}`; there are {}",
                names.join(", ")
            );
        }
        if !only.is_empty() {
            mutants.retain(|mutant| only.contains(&mutant.module));
        }
        Ok(Campaign {
            port: PortDesign::new(config)?,
            design,
            known: Known::default(),
            mutants: mutants.into_iter().step_by(step.max(1)).collect(),
            cycles,
            seed,
        })
    }

    /// The Verilog with this fault.
    pub fn verilog(&self, mutant: &Mutant) -> Vec<(String, String)> {
        files(&crate::hdl::mutants::single(&self.design, mutant))
    }

    /// The Verilog without.
    pub fn intact(&self) -> Vec<(String, String)> {
        files(&self.design)
    }

    /// What becomes of some of the faults, at most as many as the selector can tell apart. `stop`
    /// asks for an early end, which gives `None`. `known` is told of how many more it is known.
    ///
    /// # Errors
    /// If a tool is missing or fails, or the intact design does not agree with its golden model.
    pub fn run(
        &self,
        part: &[Mutant],
        provers: Option<&Provers>,
        stop: &(dyn Fn() -> bool + Sync),
        known: &(dyn Fn(u64) + Sync),
    ) -> Result<Option<Vec<Fate>>> {
        let plan = self.port.plan();
        let model = Compiled::choosing(&files(&choosable(&self.design, part)), plan)
            .context("the Verilog with faults to choose from")?;
        let herd = Herd::new(&model, part.len())?;
        let fates = herd.fates();
        let mut told = 0;
        let mut pair = LockStep::new(self.port.golden(), herd).leaping();
        let mut activity = Random::new(plan, self.seed, self.cycles, pair.leaps());
        // Most of what shows does so soon. Of the rest, most are none in their module alone, and need not
        // run to the end.
        let asked_at = self.cycles / FIRST_SHARE;
        let mut yet_to_ask = provers;
        let mut asked = Ok(());
        pair.drive(&mut activity, self.cycles, |tally, _| {
            if let Some(provers) = yet_to_ask.take_if(|_| tally.cycles >= asked_at) {
                asked = self.ask_modules(part, provers, &fates, Memories::Apart, stop);
            }
            let all = part.len() - fates.unknown().len();
            known((all - told) as u64);
            told = all;
            match stop() || asked.is_err() {
                true => std::ops::ControlFlow::Break(()),
                false => std::ops::ControlFlow::Continue(()),
            }
        })?;
        asked?;
        if stop() {
            return Ok(None);
        }
        fates.check_intact()?;
        // A solver takes longer about a fault than the run about all of them.
        if let Some(provers) = provers {
            self.ask_modules(part, provers, &fates, Memories::Inside, stop)?;
            self.ask(part, provers, &fates, stop)?;
        }
        if stop() {
            return Ok(None);
        }
        known((part.len() - fates.unknown().len() - told) as u64);
        if let Some(provers) = provers.filter(|_| self.is_small()) {
            fates.unknown().into_par_iter().try_for_each(|at| {
                if !stop() {
                    let prover = &provers.reachability;
                    let (intact, faulty) = (self.intact(), self.verilog(&part[at]));
                    let verdict = prover.same(&self.design, &intact, &faulty, ABC_TIMEOUTS[1])?;
                    if verdict == Verdict::Equal {
                        fates.set(at, Fate::Equivalent);
                    }
                    known(1);
                }
                anyhow::Ok(())
            })?;
        }
        // What nobody was asked about survives.
        if provers.is_none() || !self.is_small() {
            known(fates.unknown().len() as u64);
        }
        Ok((!stop()).then(|| fates.take()))
    }

    fn is_small(&self) -> bool {
        let census = crate::hdl::census::count(&self.design);
        census.register_bits + census.memory_bits + census.memory_output_bits <= MOST_STATE_BITS
    }

    /// Asks ABC about every fault that has not shown whether it is none in its module alone; with the
    /// memories inside, of those modules that have any.
    fn ask_modules(
        &self,
        part: &[Mutant],
        provers: &Provers,
        fates: &herd::Fates,
        memories: Memories,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<()> {
        let modules = verilog::modules(&self.design);
        let remembers = |name: &str| {
            let mut modules = modules.iter();
            modules.any(|it| it.module == name && !it.memories.is_empty())
        };
        let mut unknown = fates.unknown();
        unknown.retain(|&at| memories == Memories::Apart || remembers(&part[at].module));
        unknown.into_par_iter().try_for_each(|at| {
            if !stop() {
                let (intact, faulty) = (self.intact(), self.verilog(&part[at]));
                let verdict = provers.reachability.same_module(
                    &self.design,
                    &part[at].module,
                    &intact,
                    &faulty,
                    memories,
                    ABC_TIMEOUTS[0],
                )?;
                if verdict == Verdict::Equal {
                    fates.set(at, Fate::Equivalent);
                }
            }
            Ok(())
        })
    }

    /// Asks the solver about every fault that has not shown.
    fn ask(
        &self,
        part: &[Mutant],
        provers: &Provers,
        fates: &herd::Fates,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<()> {
        let unknown = fates.unknown();
        if unknown.is_empty() || stop() {
            return Ok(());
        }
        let left: Vec<Mutant> = unknown.iter().map(|&at| part[at].clone()).collect();
        let task = self.versions_task(&left)?;
        let versions = self.versions(&provers.induction, &task)?;
        unknown
            .into_par_iter()
            .enumerate()
            .try_for_each(|(index, at)| {
                let of_reset = part[at].kind == Kind::Reset;
                if !stop() && versions.proves(index as u64 + 1, of_reset)? {
                    fates.set(at, Fate::Equivalent);
                }
                Ok(())
            })
    }

    /// What the solver is asked about, translated.
    fn versions<'a>(&'a self, tools: &'a Tools, task: &'a ProofTask) -> Result<Versions<'a>> {
        let known = self.is_small().then_some(&self.known);
        Ok(Versions::new(tools, task, &self.design.claims(), known)?)
    }

    /// The design with these faults to choose from, for the solver; the first is number 1.
    fn versions_task(&self, faults: &[Mutant]) -> Result<ProofTask> {
        let checkers = verilog::checkers(&self.design, &Header::for_tests());
        let files = [files(&choosable(&self.design, faults)), checkers].concat();
        Ok(versions_task(self.port.plan(), &self.design, &files)?)
    }
}

fn files(design: &Design) -> Vec<(String, String)> {
    let mut files = verilog::print(design, &Header::for_tests());
    files.retain(|(name, _)| name.ends_with(".v"));
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every fault of a reset in a small port: one that shows is not proved to be none, and of those that
    /// do not show some are proved. The count of cycles of the states of the link is loaded when the
    /// link leaves WAKE, however long that takes, and runs for longer than the solver looks ahead: only
    /// an invariant shows that its reset does not matter.
    #[test]
    fn resets_that_show_are_not_proved_to_be_none() {
        let text = "[port]\ntime_width = 8\npolicy = \"fixed\"\nt_pdt_ns = 3\n\
                    sleep = \"deep-sleep\"\nsync = \"lpi\"\n\
                    [states.deep-sleep]\nt_w_ns = 40\nt_s_ns = 30\n\
                    [histogram]\nbins = 4\nbin_ns = 16\nmax_value_ns = 64\n";
        let config = Config::parse(text, "port.toml").unwrap();
        let mut campaign = Campaign::new(&config, &[], 1, 200_000, 1).unwrap();
        campaign.mutants.retain(|it| it.kind == Kind::Reset);
        let faults = &campaign.mutants;
        let fates = campaign.run(faults, None, &|| false, &|_| ()).unwrap();
        let tools = Tools::find(None, 15).unwrap();
        let task = campaign.versions_task(faults).unwrap();
        let versions = campaign.versions(&tools, &task).unwrap();
        let mut proved = Vec::new();
        for (number, (fault, fate)) in (1..).zip(faults.iter().zip(fates.unwrap())) {
            if versions.proves(number, true).unwrap() {
                assert_eq!(fate, Fate::Survived, "{}", fault.text());
                proved.push((fault.place.as_str(), fault.to.as_str()));
            }
        }
        assert!(proved.contains(&("cycles_q", "not reset")), "{proved:?}");
        assert!(proved.len() * 2 < faults.len(), "{proved:?}");
    }

    /// The place that a search reads next is set anew while nothing is searched. Another one in the
    /// first cycle after a reset reads another word of a memory, which nobody asks for.
    #[test]
    fn a_reset_that_chooses_the_first_word_read_is_proved_to_be_none() {
        let text = "[port]\ntime_width = 10\npolicy = \"perfbound\"\nt_pdt_init_ns = 30\n\
                    sleep = \"deep-sleep\"\nsync = \"lpi\"\n\
                    [states.deep-sleep]\nt_w_ns = 40\nt_s_ns = 30\n\
                    [histogram]\nbins = 16\nbin_ns = 4\nmax_value_ns = 64\n\
                    max_samples = 20\nttl_ns = 900\n[perfbound]\nbound = 0.2\nhop_factor = 0.1\n";
        let config = Config::parse(text, "port.toml").unwrap();
        let only = ["perfbound".to_owned()];
        let mut campaign = Campaign::new(&config, &only, 1, 1000, 1).unwrap();
        let of_place = |it: &Mutant| it.kind == Kind::Reset && it.place == "place_q";
        campaign.mutants.retain(of_place);
        let faults = &campaign.mutants;
        assert!(!faults.is_empty());
        let tools = Tools::find(None, 60).unwrap();
        let task = campaign.versions_task(faults).unwrap();
        let versions = campaign.versions(&tools, &task).unwrap();
        for (number, fault) in (1..).zip(faults) {
            assert!(versions.proves(number, true).unwrap(), "{}", fault.text());
        }

        // Facts of one translation hold in another, where registers lie elsewhere.
        let found = versions.facts_that_hold().unwrap();
        let mut others = super::mutants(&campaign.design);
        others.truncate(150);
        let task = campaign.versions_task(&others).unwrap();
        let elsewhere = campaign.versions(&tools, &task).unwrap();
        assert_eq!(elsewhere.facts_that_hold(), Some(found));
        assert!(found > 0);
    }
}
