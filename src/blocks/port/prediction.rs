//! What predicts the threshold: the histogram, the search, the correction.

use super::{Correction, Found, Histogram, MeasuredHops, Port, Prediction, Search};
use crate::blocks::histogram::{FoundPins, ReadPins};
use crate::hdl::prelude::*;

/// What the search is told of idle periods, and which bin of the histogram is read: the one that it asks
/// for, or else the one that software does.
impl Piece<Search> for Port {
    #[hdl_gen]
    fn update(&mut self) {
        if self.predicts {
            self.t_pb_found.next = self.perfbound.t_pb.val();
            self.bin_meter.active.next = self.active.val();
            self.bin_meter.tick.next = self.idle_meter.tick.val();
            self.bin_meter.ticks.next = self.idle_meter.ticks.val();

            self.perfbound.ended.next = self.idle_meter.ended.val();
            if self.reads_bins {
                self.bin_wanted.next = self.csr.fetch.bin.val();
                comment!("When the search does not read, the registers may.");
                if self.perfbound.searches.val() {
                    self.read_group.next = self.perfbound.read_group.val();
                    self.read_place.next = self.perfbound.read_place.val();
                } else {
                    self.read_group.next = bit_cast(
                        self.bin_wanted.val() >> self.place_bits.val(),
                        &self.read_group,
                    );
                    self.read_place.next = bit_cast(self.bin_wanted.val(), &self.read_place);
                }
            } else if self.reads {
                self.read_group.next = self.perfbound.read_group.val();
                self.read_place.next = self.perfbound.read_place.val();
            }
            self.read.read_group.next = self.read_group.val();
            self.read.read_place.next = self.read_place.val();
        }
    }
}

/// The histogram of the configuration, and the window that it covers.
impl Piece<Histogram> for Port {
    #[hdl_gen]
    fn update(&mut self) {
        if self.predicts {
            if self.is_circular {
                self.circular.ended.next = self.idle_meter.ended.val();
                self.circular.ticks.next = self.idle_meter.ticks.val();
                self.circular.sample_bin.next = self.bin_meter.bin.val();
                ReadPins::link(&mut self.read, &mut self.circular.read);
                FoundPins::link(&mut self.found, &mut self.circular.found);
                self.perfbound.live_window.next = self.circular.window.val();
                if self.accumulates {
                    self.perfbound.window_step.next = self.circular.step.val();
                }
            } else if self.is_decaying {
                self.decaying.ended.next = self.idle_meter.ended.val();
                self.decaying.sample_bin.next = self.bin_meter.bin.val();
                ReadPins::link(&mut self.read, &mut self.decaying.read);
                FoundPins::link(&mut self.found, &mut self.decaying.found);
                self.perfbound.live_window.next = self.decaying.window.val();
                if self.ages {
                    self.decaying.ttl.next = self.csr.aging.ttl.val();
                    self.decaying.max_samples.next = self.csr.aging.max_samples.val();
                    self.decaying.renew.next = self.csr.aging.restart.val();
                    self.csr.aging.restarted.next = self.decaying.renewed.val();
                }
            } else if self.is_map {
                self.map.ended.next = self.idle_meter.ended.val();
                self.map.active.next = self.active.val();
                self.map.grows.next = self.bin_meter.grows.val();
                self.map.budget.next = self.perfbound.budget.val();
                self.perfbound.cleared.next = self.map.cleared.val();
                self.perfbound.sample_bin.next = self.bin_meter.bin.val();
                self.perfbound.live_window.next = self.map.age.val();
                if self.accumulates {
                    self.perfbound.window_step.next = self.map.step.val();
                }
                if self.ages {
                    self.map.ttl.next = self.csr.aging.ttl.val();
                    self.map.max_samples.next = self.csr.aging.max_samples.val();
                    self.map.renew.next = self.csr.aging.restart.val();
                    self.csr.aging.restarted.next = self.map.cleared.val();
                }
                self.perfbound.map_found.next = self.map.found.val();
            } else if self.is_regular {
                self.regular.ended.next = self.idle_meter.ended.val();
                self.regular.sample_bin.next = self.bin_meter.bin.val();
                self.regular.answers.next = self.perfbound.update.val();
                ReadPins::link(&mut self.read, &mut self.regular.read);
                FoundPins::link(&mut self.found, &mut self.regular.found);
                self.perfbound.halved.next = self.regular.halved.val();
                self.perfbound.live_window.next = self.regular.window.val();
            } else {
                self.clearing.ended.next = self.idle_meter.ended.val();
                self.clearing.sample_bin.next = self.bin_meter.bin.val();
                ReadPins::link(&mut self.read, &mut self.clearing.read);
                FoundPins::link(&mut self.found, &mut self.clearing.found);
                self.perfbound.live_window.next = self.clearing.age.val();
                if self.accumulates {
                    self.perfbound.window_step.next = self.clearing.step.val();
                }
                if self.ages {
                    self.clearing.ttl.next = self.csr.aging.ttl.val();
                    self.clearing.max_samples.next = self.csr.aging.max_samples.val();
                    self.clearing.renew.next = self.csr.aging.restart.val();
                    self.csr.aging.restarted.next = self.clearing.cleared.val();
                }
                self.perfbound.cleared.next = self.clearing.cleared.val();
                self.perfbound.sample_bin.next = self.bin_meter.bin.val();
            }
        }
    }
}

/// What the search finds in a histogram that is read word by word.
impl Piece<Found> for Port {
    #[hdl_gen]
    fn update(&mut self) {
        if self.reads {
            self.read_taken.next = self.found.taken.val();
            self.bin_read.next = bit_cast(self.found.bin_count.val(), &self.bin_read);
            self.perfbound.taken.next = self.found.taken.val();
            self.perfbound.group_sum.next = self.found.group_sum.val();
            self.perfbound.bin_count.next = self.found.bin_count.val();
            self.perfbound.arrived.next = self.found.arrived.val();
        }
    }
}

/// The history of misses, and the correction of what the search finds.
impl Piece<Correction> for Port {
    #[hdl_gen]
    fn update(&mut self) {
        if self.corrects {
            self.miss_history.ended.next = self.idle_meter.ended.val();
            self.miss_history.miss.next = self.left_wake.q.val();
            self.miss_history.ticks.next = self.idle_meter.ticks.val();
            self.miss_history.t_pdt_in_force.next = self.pdt_timer.t_pdt_in_force.val();

            self.corrector.t_pb_new.next = self.perfbound.update.val();
            self.corrector.t_pb.next = bit_cast(
                self.t_pb_found.val() >> self.t_pb_zeros.val(),
                self._t_pb_bits,
            );
            self.corrector.sum.next = self.miss_history.sum.val();
            self.corrector.misses.next = self.miss_history.misses.val();
            self.corrector.under_way.next = self.miss_history.under_way.val();
            self.log2_cf.next = self.corrector.log2_cf.val();
            self.update.next = self.corrector.update.val();
        } else if self.predicts {
            self.update.next = self.perfbound.update.val();
        }
    }
}

/// The threshold of the search, and the window and budget that it was computed for.
impl Piece<Prediction> for Port {
    #[hdl_gen]
    fn update(&mut self) {
        if self.predicts {
            self.t_pb.next = self.perfbound.t_pb.val();
            self.window.next = self.perfbound.window.val();
            self.budget.next = self.perfbound.budget.val();
        }
    }
}

/// A rate of the budget that the hop counts of the packets sent make.
impl Piece<MeasuredHops> for Port {
    #[hdl_gen]
    fn update(&mut self) {
        if self.measures {
            comment!("The hop factor of the packets sent makes the rate of the budget.");
            self.hop_monitor.packet_valid.next = self.packet_valid.val();
            self.hop_monitor.packet_hops.next = self.packet_hops.val();
            self.hop_monitor.clear.next = false;
            self.hop_monitor.read_hops.next = 0.into();
            self.budget_rate.start.next = self.hop_monitor.measured.val();
            self.budget_rate.bound.next = self.bound.val();
            self.hop_factor.next = self.hop_monitor.factor.val();
            self.budget_rate.hop_factor.next =
                bit_cast(self.hop_factor.val(), 32) << self.factor_shift.val();
            self.budget_rate.t_w_last.next = self.t_w_last.val();
            self.perfbound.rate.next = self.budget_rate.rate.val();
        }
    }
}
