//! What need not be explored.

pub mod conflicts;
pub mod equal_work;
pub mod idle;
pub mod left_out;
pub mod program_order;
pub mod retry;
pub mod sleep;
pub mod symmetry;
