//! A test as a C program: its threads in the machine's own instructions, and what sets them up and counts.
//!
//! Here stands what differs from test to test; what does not is in `harness.c`.

use crate::{Refused, aarch64, runs_here, x86};
use fencepost_ir::{
    Extend, Function, Instr, Object, Observable, Program, Property, Reg, Rvalue, Thread, Value, Width,
};
use fencepost_litmus::{Arch, Line, LitmusTest};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Bytes of one location of one run: a line of the cache, so that locations do not travel together.
const STRIDE: u32 = 64;

/// How instructions name locations and labels.
pub(crate) struct Names<'a> {
    objects: BTreeMap<&'a str, &'a str>,
}

impl<'a> Names<'a> {
    /// Each location by the register that holds its address.
    pub(crate) fn of(objects: &'a [&'a str], registers: &'a [&'a str]) -> Names<'a> {
        Names { objects: objects.iter().copied().zip(registers.iter().copied()).collect() }
    }

    /// The register and the bytes to add for `x`, `x+4` and `x[1]`, whose elements are `int`s.
    pub(crate) fn address(&self, text: &str) -> Option<(&'a str, u32)> {
        let text = text.trim();
        if let Some((name, offset)) = text.split_once('+') {
            let register = self.objects.get(name.trim())?;
            return Some((register, offset.trim().trim_start_matches('$').parse().ok()?));
        }
        if let Some((name, index)) = text.strip_suffix(']').and_then(|text| text.split_once('[')) {
            let register = self.objects.get(name.trim())?;
            return Some((register, 4 * index.trim().parse::<u32>().ok()?));
        }
        self.objects.get(text).map(|register| (*register, 0))
    }

    /// A label of the test in an `asm` that may stand in several places.
    pub(crate) fn label(&self, name: &str) -> String {
        format!(".Lfp_{}_%=", name.trim())
    }
}

/// The C program of a test whose text is `source`.
///
/// # Errors
/// If the test is for another machine, or cannot be given to an assembler.
pub fn program(test: &LitmusTest, source: &str) -> Result<String, Refused> {
    if test.arch == Arch::C {
        return Err(Refused::NoAssembly);
    }
    if !runs_here(test.arch) {
        return Err(Refused::OtherMachine { wanted: test.arch.name() });
    }
    text(test, source)
}

/// The same, whatever machine this is.
fn text(test: &LitmusTest, source: &str) -> Result<String, Refused> {
    let objects = &test.program.objects;
    if objects.iter().any(|object| object.size > STRIDE) {
        return Err(Refused::Test("a location is larger than a line of the cache"));
    }
    if objects
        .iter()
        .any(|object| object.size as usize == 16 * object.cells.len() && object.cells[0].width == Width::W64)
    {
        return Err(Refused::Test("it has locations of 128 bits"));
    }
    let mut out = String::new();
    // Before anything is included, or it has no effect.
    out.push_str("#define _GNU_SOURCE\n");
    let _ = writeln!(
        out,
        "#define THREADS {}\n#define LOCATIONS {}\n#define STRIDE {STRIDE}",
        test.program.threads.len(),
        objects.len()
    );
    out.push_str("#include <stdint.h>\n");
    names(&mut out, objects);
    out.push_str(include_str!("start.c"));
    set_up(&mut out, objects);
    let mut registers = Vec::new();
    for (index, thread) in test.program.threads.iter().enumerate() {
        registers.push(thread_text(&mut out, test, source, index, thread)?);
    }
    observe(&mut out, &test.program, &registers)?;
    for index in 0..test.program.threads.len() {
        let _ = writeln!(out, "BODY({index})");
    }
    let each = |name: &str| {
        (0..test.program.threads.len()).map(|index| format!("{name}_{index}")).collect::<Vec<_>>()
    };
    let _ = writeln!(out, "static void (*const bodies[THREADS])(int) = {{{}}};", each("run").join(", "));
    let _ = writeln!(
        out,
        "static uint64_t (*const seen_by[THREADS])[REGISTERS] = {{{}}};",
        each("seen").join(", ")
    );
    out.push_str(include_str!("harness.c"));
    Ok(out)
}

/// What the addresses of locations are called in final states.
fn names(out: &mut String, objects: &[Object]) {
    let pointers: Vec<String> = (0..objects.len()).map(|index| format!("{:#x}u", pointer(index).0)).collect();
    let sizes: Vec<String> = objects.iter().map(|object| format!("{}u", object.size)).collect();
    let _ = writeln!(out, "static const uint64_t names[] = {{{}}};", or_zero(&pointers));
    let _ = writeln!(out, "static const uint64_t sizes[] = {{{}}};", or_zero(&sizes));
}

fn or_zero(values: &[String]) -> String {
    if values.is_empty() { "0".to_owned() } else { values.join(", ") }
}

fn pointer(object: usize) -> Value {
    Value::pointer(fencepost_ir::ObjectId(object as u32), 0)
}

/// A value as an expression of C; an address is that of the run's own location.
fn expression(value: Value) -> String {
    match value.as_pointer() {
        Some((object, offset)) => format!("(uint64_t)at[{}] + {offset}", object.0),
        None => format!("{:#x}u", value.0),
    }
}

fn unsigned(width: Width) -> u32 {
    8 * width.bytes()
}

fn set_up(out: &mut String, objects: &[Object]) {
    out.push_str("static void set_up(unsigned char *const *at) {\n  (void)at;\n");
    for (index, object) in objects.iter().enumerate() {
        for cell in &object.cells {
            let value = expression(cell.init.unwrap_or(Value::ZERO));
            let bits = unsigned(cell.width);
            let _ = writeln!(
                out,
                "  *(volatile uint{bits}_t *)(at[{index}] + {}) = (uint{bits}_t)({value});",
                cell.offset
            );
        }
    }
    out.push_str("}\n");
}

/// The registers of a thread, in the order in which they are kept.
type Registers = Vec<String>;

fn thread_text(
    out: &mut String,
    test: &LitmusTest,
    source: &str,
    index: usize,
    thread: &Thread,
) -> Result<Registers, Refused> {
    let function = &test.program.functions[thread.function.0 as usize];
    let lines: Vec<(bool, &str)> = test.listing[index]
        .iter()
        .map(|line| match line {
            Line::Label(span) => (true, &source[span.start as usize..span.end as usize]),
            Line::Instruction(span) => (false, &source[span.start as usize..span.end as usize]),
        })
        .collect();
    let whole = |name: &str| match test.arch {
        Arch::AArch64 => aarch64::whole(name),
        _ => x86::whole(name).map(str::to_owned),
    };
    let mut registers: Registers = Vec::new();
    let mut initial: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in function.regs.iter().zip(&thread.args) {
        let register = whole(name).ok_or(Refused::Test("it sets a register that cannot be used"))?;
        initial.insert(register, expression(*value));
    }
    let mentioned = lines
        .iter()
        .filter(|(is_label, _)| !is_label)
        .flat_map(|(_, text)| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '%').filter_map(whole));
    // A register that only the condition mentions is never written.
    let observed = observed_registers(&test.program, index).filter_map(whole);
    for register in mentioned.chain(initial.keys().cloned()).chain(observed).collect::<Vec<_>>() {
        if !registers.contains(&register) {
            registers.push(register);
        }
    }
    let used = |name: &str| {
        lines.iter().any(|(_, text)| {
            text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == name)
        })
    };
    let locations: Vec<(usize, &str)> = match test.arch {
        Arch::AArch64 => Vec::new(),
        _ => test
            .program
            .objects
            .iter()
            .map(|object| object.name.as_str())
            .enumerate()
            .filter(|(_, name)| used(name))
            .collect(),
    };
    let free: Vec<&str> =
        x86::FREE.into_iter().filter(|name| !registers.iter().any(|used| used == name)).collect();
    if locations.len() > free.len() {
        return Err(Refused::Test("a thread uses more registers and locations than there are registers"));
    }
    let place: Vec<&str> = locations.iter().map(|(_, name)| *name).collect();
    let names = Names::of(&place, &free);
    let _ = writeln!(
        out,
        "static inline __attribute__((always_inline)) void thread_{index}(unsigned char *const *at, uint64_t *seen) \
            {{\n  (void)at; (void)seen;"
    );
    for register in &registers {
        let value = initial.get(register).map_or("0", String::as_str);
        let _ = writeln!(out, "  register uint64_t r_{register} __asm__(\"{register}\") = {value};");
    }
    for ((object, _), register) in locations.iter().zip(&free) {
        let _ =
            writeln!(out, "  register uint64_t a_{object} __asm__(\"{register}\") = (uint64_t)at[{object}];");
    }
    out.push_str("  __asm__ volatile(\n");
    for (is_label, text) in &lines {
        let line = match (is_label, test.arch) {
            (true, _) => format!("{}:", names.label(text)),
            (false, Arch::AArch64) => aarch64::instruction(text, &names)?,
            (false, arch) => x86::instruction(text, arch == Arch::X86_64, &names)?,
        };
        let _ = writeln!(out, "    \"{line}\\n\\t\"");
    }
    let operands: Vec<String> = registers
        .iter()
        .map(|register| format!("\"+r\"(r_{register})"))
        .chain(locations.iter().map(|(object, _)| format!("\"+r\"(a_{object})")))
        .collect();
    let _ = writeln!(out, "    : {} : : \"memory\", \"cc\");", operands.join(", "));
    for (place, register) in registers.iter().enumerate() {
        let _ = writeln!(out, "  seen[{place}] = r_{register};");
    }
    out.push_str("}\n");
    Ok(registers)
}

fn observed_registers(program: &Program, thread: usize) -> impl Iterator<Item = &str> {
    let Property::Final(condition) = &program.property else {
        unreachable!("a litmus test asks about final states")
    };
    condition.observed.iter().filter_map(move |observable| match *observable {
        Observable::Register { thread: owner, reg } if owner.0 as usize == thread => {
            Some(program.thread_function(owner).regs[reg.0 as usize].as_str())
        }
        _ => None,
    })
}

/// The final state of a run, in the order of the condition.
fn observe(out: &mut String, program: &Program, registers: &[Registers]) -> Result<(), Refused> {
    let Property::Final(condition) = &program.property else {
        unreachable!("a litmus test asks about final states")
    };
    let most = registers.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let _ = writeln!(out, "#define REGISTERS {most}\n#define OBSERVED {}", condition.observed.len());
    out.push_str(
        "static void observe(unsigned char *const *at, uint64_t *const *seen, uint64_t *state) {\n  \
        (void)at; (void)seen; (void)state;\n",
    );
    for (place, observable) in condition.observed.iter().enumerate() {
        let value = match *observable {
            Observable::Register { thread, reg } => {
                let function = program.thread_function(thread);
                let index = thread.0 as usize;
                let name = &function.regs[reg.0 as usize];
                let own = registers[index].iter().position(|register| {
                    x86::whole(name) == Some(register) || aarch64::whole(name).as_deref() == Some(register)
                });
                let own = own.ok_or(Refused::Test("its condition names a register that no machine has"))?;
                let is_narrow = u8::from(shows_words(function, reg));
                format!("value(seen[{index}][{own}], at, {is_narrow})")
            }
            Observable::Memory { object, offset, width } => {
                let bits = unsigned(width);
                let cell = format!("*(volatile int{bits}_t *)(at[{}] + {offset})", object.0);
                format!("value((uint64_t)(int64_t){cell}, at, 0)")
            }
        };
        let _ = writeln!(out, "  state[{place}] = {value};");
    }
    out.push_str("}\n");
    Ok(())
}

/// Whether what is shown of a register is a signed number of 32 bits.
fn shows_words(function: &Function, reg: Reg) -> bool {
    function.body.iter().any(|instr| match *instr {
        Instr::Load { dst, width, extend, .. } => dst == reg && width == Width::W32 && extend == Extend::Sign,
        Instr::Rmw { dst, width, extend, .. } | Instr::CompareExchange { dst, width, extend, .. } => {
            dst == Some(reg) && width == Width::W32 && extend == Extend::Sign
        }
        Instr::Assign {
            dst,
            value: Rvalue::Binary(_, width, extend, ..) | Rvalue::Unary(_, width, extend, _),
        } => dst == reg && width == Width::W32 && extend == Extend::Sign,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_diag::SourceFile;

    const MP: &str = "AArch64 MP\n{ 0:X1=x; 0:X3=y; 1:X1=y; 1:X3=x; }\n P0 | P1 ;\n MOV W0,#1 | LDR W0,[X1] ;\n STR \
        W0,[X1] | CBNZ W0,L ;\n \
        STLR W0,[X3] | L: LDR W2,[X3] ;\nexists (1:X0=1 /\\ 1:X2=0)\n";

    #[test]
    fn a_test_for_arm_is_written_as_it_is() {
        let file = SourceFile::new("mp", MP.to_owned());
        let test = fencepost_litmus::parse(&file).expect("it is a test");
        let text = text(&test, MP).expect("it can be written");
        for line in [
            "\"STLR W0,[X3]\\n\\t\"",
            "\"CBNZ W0,.Lfp_L_%=\\n\\t\"",
            "\".Lfp_L_%=:\\n\\t\"",
            "register uint64_t r_x3 __asm__(\"x3\") = (uint64_t)at[1] + 0;",
        ] {
            assert!(text.contains(line), "{line} in\n{text}");
        }
    }
}
