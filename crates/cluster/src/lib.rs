//! Explorations on many machines.
