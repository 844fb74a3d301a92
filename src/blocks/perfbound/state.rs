//! Where the search stands.

use crate::hdl::prelude::*;

states! {
    /// Where the search stands.
    pub enum Search {
        Idle = "waiting for a sample",
        Multiply = "multiplying the window into a budget",
        Groups = "adding up whole groups from the highest down",
        Bins = "adding up the bins of the group that holds the answer",
        Entries = "all entries of a map tell the answer",
        Finish = "turning the bin into a time",
    }
}
