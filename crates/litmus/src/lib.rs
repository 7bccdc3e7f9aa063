//! Litmus tests: files for PPC, X86, X86_64, AArch64, ARM, RISC-V and C become an [`fencepost_ir::Program`].
//!
//! A file has a header, an initial state, a program and a condition, each with a module of its own (`header`, `init`,
//! `table` or `c`, `condition`) over one lexer. Instructions are lowered as they are read; what can only be known at
//! the end (targets of branches, widths of locations, the order of a final state) is settled by [`parse`]. The format is that of
//! the diy tool suite (herd7, litmus7); its semantics is the reference where the
//! architecture manuals leave a choice.
//!
//! Loops stay loops, as back edges: bounding them is another pass's task. A mistake gives a diagnostic, never a panic,
//! and where it makes sense several at once.

mod aarch64;
mod arm;
mod c;
mod condition;
mod error;
mod extension;
mod header;
mod init;
mod lexer;
mod parts;
mod ppc;
mod riscv;
mod state;
mod table;
mod test;
mod thread;
mod types;
mod widths;
mod x86;

use fencepost_diag::{Diagnostic, SourceFile};
use fencepost_ir::{FunctionId, Program, Property, Span, Thread, Value};
use lexer::{Lexer, Mode};
use test::Test;

/// The architectures of litmus tests.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Arch {
    /// Power.
    Ppc,
    /// x86, 32 bits.
    X86,
    /// x86, 64 bits.
    X86_64,
    /// Arm, 64 bits.
    AArch64,
    /// Arm, 32 bits, ARMv7.
    Arm,
    /// RISC-V.
    RiscV,
    /// C11.
    C,
}

impl Arch {
    /// Every architecture.
    pub const ALL: [Arch; 7] =
        [Arch::Ppc, Arch::X86, Arch::X86_64, Arch::AArch64, Arch::Arm, Arch::RiscV, Arch::C];

    /// The word that opens a litmus file.
    pub fn name(self) -> &'static str {
        match self {
            Arch::Ppc => "PPC",
            Arch::X86 => "X86",
            Arch::X86_64 => "X86_64",
            Arch::AArch64 => "AArch64",
            Arch::Arm => "ARM",
            Arch::RiscV => "RISCV",
            Arch::C => "C",
        }
    }

    /// The memory model that its tests are about.
    pub fn default_model(self) -> &'static str {
        match self {
            Arch::Ppc => "power",
            Arch::X86 | Arch::X86_64 => "tso",
            Arch::AArch64 => "armv8",
            Arch::Arm => "arm",
            Arch::RiscV => "rvwmo",
            Arch::C => "rc11",
        }
    }
}

/// A litmus test.
#[derive(Clone, PartialEq, Debug)]
pub struct LitmusTest {
    /// The name in the header, which may differ from the file's name.
    pub name: String,
    /// Its architecture.
    pub arch: Arch,
    /// The test as a program; its property is always a final condition.
    pub program: Program,
    /// It uses functions of the Linux kernel, or says in a comment what the kernel's memory model says of it.
    pub is_kernel: bool,
    /// The condition as it is written, from its quantifier on, without comments; empty if there is none.
    pub condition: String,
    /// The text of each thread of an assembly test; empty for C.
    pub listing: Vec<Vec<Line>>,
}

/// A part of a thread's text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Line {
    /// The name of a label.
    Label(Span),
    /// An instruction with its operands.
    Instruction(Span),
}

impl LitmusTest {
    /// The memory model that the test is about.
    pub fn default_model(&self) -> &'static str {
        if self.is_kernel { "lkmm" } else { self.arch.default_model() }
    }
}

/// Reads a litmus test.
///
/// # Errors
/// All mistakes that were found, in the order of the file; at least one.
pub fn parse(file: &SourceFile) -> Result<LitmusTest, Vec<Diagnostic>> {
    let header = header::parse_header(file).map_err(|error| vec![*error])?;
    let arch = header.arch;
    let outside = if arch == Arch::C { Mode::COutside } else { Mode::Assembly };
    let mut lexer = Lexer::new(&file.text, header.brace, outside);
    let mut test = Test::new();
    let condition = read(arch, &mut lexer, &mut test);
    let mut label_errors = Vec::new();
    for thread in &mut test.threads {
        label_errors.extend(thread.finish());
    }
    label_errors.into_iter().for_each(|error| test.report(error));
    let is_read = condition.is_ok() && test.errors.is_empty();
    if !is_read
        && arch == Arch::AArch64
        && let Some(needed) = extension::needed(&file.text, header.brace)
    {
        return Err(vec![needed]);
    }
    let condition = match condition {
        Ok(condition) if test.errors.is_empty() => condition,
        Ok(_) => return Err(in_file_order(test.errors)),
        Err(error) => {
            test.errors.push(*error);
            return Err(in_file_order(test.errors));
        }
    };
    let objects = widths::settle(arch, &mut test)?;
    let text = condition.text.clone();
    let condition = state::finish(arch, condition, &test, &objects);
    let mut program = Program { name: header.name.to_string(), objects, ..Program::default() };
    let says_kernel = test.is_kernel;
    let mut listing = Vec::with_capacity(test.threads.len());
    for (index, thread) in test.threads.into_iter().enumerate() {
        let function = FunctionId(index as u32);
        program.threads.push(Thread { name: thread.function.name.clone(), function, args: thread.args });
        program.functions.push(thread.function);
        listing.push(thread.lines);
    }
    program.property = Property::Final(condition);
    // Tests of the kernel that have only plain accesses can be told by what they say they show.
    let is_kernel = arch == Arch::C && (says_kernel || says_result(&file.text));
    Ok(LitmusTest { name: header.name.to_string(), arch, program, is_kernel, condition: text, listing })
}

/// Whether it has types of the kernel, or a line of a comment reads like ` * Result: Never`, as in the tests of the Linux kernel.
fn says_result(text: &str) -> bool {
    let types = ["spinlock_t", "atomic_t ", "struct srcu_struct"];
    types.iter().any(|ty| text.contains(ty))
        || text.lines().any(|line| line.trim_start_matches([' ', '\t', '*', '(', '/']).starts_with("Result:"))
}

fn in_file_order(mut errors: Vec<Diagnostic>) -> Vec<Diagnostic> {
    errors.sort_by_key(|error| error.span);
    errors
}

/// Initial state, program and condition.
fn read<'a>(
    arch: Arch,
    lexer: &mut Lexer<'a>,
    test: &mut Test<'a>,
) -> Result<condition::Condition, Box<Diagnostic>> {
    init::parse_init(lexer, test)?;
    match arch {
        Arch::C => c::parse_functions(lexer, test)?,
        _ => table::parse_table(arch, lexer, test)?,
    }
    condition::parse_condition(arch, lexer, test)
}

/// One final state as reference results print it, `0:r1=1; [x]=2;`: registers by thread and in the order of the
/// architecture, then locations alphabetically. `values` are those of `FinalCondition::observed`.
pub fn show_state(program: &Program, values: &[Value]) -> String {
    let mut out = String::new();
    state::show_state_into(program, values, &mut out);
    out
}

/// As [`show_state`], appended to a string.
pub fn show_state_into(program: &Program, values: &[Value], out: &mut String) {
    state::show_state_into(program, values, out);
}
