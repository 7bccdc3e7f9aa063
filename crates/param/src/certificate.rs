//! SMT-LIB certificates (to come).
use crate::outcome::Outcome;
impl Outcome {
    /// The proof obligations.
    pub fn certificate(&self) -> String {
        String::new()
    }
}
