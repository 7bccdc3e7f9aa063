//! Independent check of an invariant (to come).
use crate::{cube::Cube, model::Model, outcome::Recheck, system::System};
/// Checks.
pub fn recheck(_: &System, _: Model, _: &[Cube]) -> Result<Recheck, String> {
    Ok(Recheck::Skipped)
}
