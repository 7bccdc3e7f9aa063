//! The encoding of POWER with a bounded number of contexts, against the machine and the explorer.

mod family;
mod findings;
mod idle;
mod litmus;
mod machine;
mod mutants;
mod questions;
mod starts;
mod support;
