//! C11 programs compiled for machines: what each order becomes, that compiled programs do nothing that RC11 forbids, and
//! that every fence of every mapping is needed.

mod corpus;
mod directed;
mod llsc;
mod mutation;
mod shape;
mod soundness;
mod support;
