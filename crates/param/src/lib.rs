//! Parameterized systems.
pub mod ast;
mod lexer;
pub mod literal;
pub mod lower;
pub mod normal;
pub mod parser;
mod parser_expr;
pub mod system;
pub mod typing;
pub mod machine;
pub mod model;
