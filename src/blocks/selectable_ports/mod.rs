//! As many ports as the load needs (POWAR 3, Algorithms 2 and 3).

pub mod golden;
#[cfg(test)]
pub(crate) mod tests;

use crate::config::plan::SelectionPlan;
use crate::hdl::prelude::*;

block! {
    /// Measures how busy some ports are, window by window, and has packets take one port more or less
    /// (POWAR 3, Algorithms 2 and 3). The switches of a minimal tree turn their links up on and off by
    /// the same rule (Alonso 3).
    pub struct SelectablePorts(clk, rst);

    /// The manager of the ports up of `plan`.
    pub fn new(plan: &SelectionPlan) {
        let ports = plan.ports_up;
        let count = clog2(u128::from(ports) + 1);
        let unused = clog2(ports.into());
        let busy = clog2(u128::from(plan.window) * u128::from(ports) + 1);
        let cycle = clog2(plan.window.into());
        // What so many ports can carry in a window, in parts of a million.
        let room = |unused: u32| u128::from(plan.window) * u128::from(ports - unused);
        let most: Vec<u128> = (0..ports)
            .map(|unused| room(unused) * u128::from(plan.on_millionths) / 1_000_000)
            .collect();
        let least: Vec<u128> = (0..ports)
            .map(|unused| (room(unused) * u128::from(plan.off_millionths)).div_ceil(1_000_000))
            .collect();
        // Until one field has them all.
        let levels = clog2(ports.into());
        // The lower half of each field of 2^(level + 1) bits.
        let lower = move |level: u32| {
            (0..ports).filter(|bit| bit >> level & 1 == 0).map(|bit| 1u128 << bit).sum::<u128>()
        };
        let table = |name: &str, says: &str| {
            About::new(name, format!("{says}\nThe index is the number of ports that are not in use."))
        };
    }

    about(
        "selectable_ports",
        format!(
            "Of {ports} ports packets may take the first ones, as many as their load needs. In each\n\
             window of {} clock cycles it counts the cycles in which the ports are sending, all\n\
             ports together. Above T_on ({} of what the ports in use could carry) there is one\n\
             port more in the next window, below T_off ({}) one less. The first port is always\n\
             in use.",
            plan.window,
            plan.on_millionths as f64 / 1e6,
            plan.off_millionths as f64 / 1e6
        ),
    )

    {
        pub in transmitting: Bits(ports, "the ports by which a packet is leaving in this cycle"),
        pub out selectable: Bits(ports, "the ports that packets may take"),
        reg sending: Bits(count, 0, "ports that were sending in the cycle before"),
        reg cycles: Bits(cycle, 0, "cycles of the present window"),
        reg ended: Bit(false, "a window has ended with the cycle before"),
        pub reg busy: Bits(busy, 0, "cycles of sending in this window, those of all ports together"),
        pub reg unused: Bits(unused, 0, "the last so many ports are not in use"),
        local counted[level in 0..levels + 1]: Bits(
            ports, match level {
                0 => "ports that are sending, a bit each".to_owned(),
                _ => format!("ports that are sending, in fields of {} bits", 1 << level),
            }
        ),
        constant lower[level in 0..levels]: Bits(
            ports, lower(level), format!("the lower halves of fields of {} bits", 2 << level)
        ),
        constant half[level in 0..levels]: Bits(
            unused, 1 << level, format!("half of {} bits", 2 << level)
        ),
        number _levels(levels),
        local is_above: Bit("the load asks for one port more"),
        local is_below: Bit("the load asks for one port less"),
        child most_busy: Table(table("most_busy", "Busier ports are to be one more."), most.clone(), busy),
        child least_busy: Table(table("least_busy", "Less busy ports are to be one less."), least, busy),
        constant last_cycle: Bits(cycle, u128::from(plan.window) - 1, "last cycle of a window"),
        constant most_unused: Bits(unused, u128::from(ports) - 1, "all ports but one"),
        constant all_ports: Bits(ports, u128::MAX >> (128 - ports), "all ports"),
        // For the proofs (docs/evidence/proofs.md).
        property first_selectable("Packets may always take the first port."),
        property no_return(
            "A load for which one port is taken away does not ask for it again: ports do not come and go."
        ),
        property one_at_a_time("Only one port comes or goes at a time, at the end of a window."),
        invariant unused_in_range("One port at least is in use."),
        reg unused_then: Bits(unused, 0, "ports that were not in use the cycle before"),
        reg ended_then: Bit(false, "a window had ended the cycle before"),
        constant less[step in 0..ports - 1]: Bits(
            unused, step.into(), format!("ports that are not in use: {step}")
        ),
        constant most_with_less[step in 0..ports - 1]: Bits(
            busy,
            most[step as usize + 1],
            format!("busier ports would be one more, were {} not in use", step + 1)
        ),
        number _steps(ports - 1),
    }
}

impl Logic for SelectablePorts {
    #[hdl_gen]
    fn update(&mut self) {
        comment!(
            "Ports are counted by two, then by four, and so on: each count has a field of its own."
        );
        self.counted[0].next = self.transmitting.val();
        for i in 0..self._levels {
            self.counted[i + 1].next = (self.counted[i].val() & self.lower[i].val())
                + ((self.counted[i].val() >> self.half[i].val()) & self.lower[i].val());
        }
        self.sending.d.next = bit_cast(self.counted[self._levels].val(), &self.sending);

        comment!(
            "A window ends in its last cycle; the next cycle looks at what was counted in it."
        );
        self.ended.d.next = self.cycles.q.val() == self.last_cycle.val();
        if self.cycles.q.val() == self.last_cycle.val() {
            self.cycles.d.next = 0.into();
        } else {
            self.cycles.d.next = self.cycles.q.val() + 1;
        }
        if self.ended.q.val() {
            self.busy.d.next = bit_cast(self.sending.q.val(), &self.busy);
        } else {
            self.busy.d.next = self.busy.q.val() + bit_cast(self.sending.q.val(), &self.busy);
        }

        self.most_busy.index.next = self.unused.q.val();
        self.least_busy.index.next = self.unused.q.val();
        self.is_above.next = self.busy.q.val() > self.most_busy.value.val();
        self.is_below.next = self.busy.q.val() < self.least_busy.value.val();
        if self.ended.q.val() {
            if self.is_above.val() & self.unused.q.val().any() {
                self.unused.d.next = self.unused.q.val() - 1;
            } else if self.is_below.val() & (self.unused.q.val() < self.most_unused.val()) {
                self.unused.d.next = self.unused.q.val() + 1;
            }
        }
        self.selectable.next = self.all_ports.val() >> self.unused.q.val();

        self.first_selectable.d.next = self.selectable.val().get_bit(0);
        self.unused_in_range.d.next = self.unused.q.val() <= self.most_unused.val();
        self.no_return.d.next = true;
        for i in 0..self._steps {
            if (self.unused.q.val() == self.less[i].val())
                & self.is_below.val()
                & (self.busy.q.val() > self.most_with_less[i].val())
            {
                self.no_return.d.next = false;
            }
        }
        self.unused_then.d.next = self.unused.q.val();
        self.ended_then.d.next = self.ended.q.val();
        self.one_at_a_time.d.next = (self.unused.q.val() == self.unused_then.q.val())
            | (self.ended_then.q.val()
                & (((self.unused_then.q.val() < self.most_unused.val())
                    & (self.unused.q.val() == (self.unused_then.q.val() + 1)))
                    | (self.unused_then.q.val().any()
                        & (self.unused.q.val() == (self.unused_then.q.val() - 1)))));
    }
}
