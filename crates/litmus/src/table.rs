//! The program of an assembly test: a table with one column per thread.
//!
//! Rows end with `;` and columns are separated by `|`. Each cell is lowered when it is read; a mistake in one cell is
//! reported and the next cell is read all the same.

use crate::aarch64::AArch64;
use crate::arm::Arm;
use crate::error::{Parsed, expected, expected_next, suggest};
use crate::init::parse_integer;
use crate::lexer::{Kind, Lexer, Token};
use crate::ppc::Ppc;
use crate::riscv::RiscV;
use crate::test::{Test, skip_to, thread_number};
use crate::thread::{Key, ThreadBuilder};
use crate::x86::{X86, X86_64};
use crate::{Arch, Line, condition};
use fencepost_diag::Diagnostic;
use fencepost_ir::{Operand, Reg, Rvalue, Span, Value};

/// An instruction set.
pub(crate) trait Isa {
    /// What its instructions are called in messages.
    const NAME: &'static str;
    /// An example register, for messages.
    const REGISTER: &'static str;
    /// Registers have a second name for their lower half.
    const HAS_NARROW_NAMES: bool = false;
    /// The mnemonics, for "did you mean".
    const MNEMONICS: &'static [&'static str];

    /// The key of a register and whether only its lower 32 bits are meant.
    fn register(name: &str) -> Option<(Key, bool)>;

    /// The name of a register as final states show it.
    fn register_name(key: Key) -> String;

    /// Lowers the instruction with this mnemonic in lower case; the lexer stands after it. `Ok(false)` if there is no
    /// such instruction.
    fn instruction(cell: &mut Cell<'_, '_>, mnemonic: &str) -> Parsed<bool>;
}

/// One cell of the table while its instruction is lowered.
pub(crate) struct Cell<'t, 'a> {
    pub(crate) lexer: &'t mut Lexer<'a>,
    pub(crate) test: &'t mut Test<'a>,
    /// The column.
    pub(crate) column: usize,
    names: Names,
}

/// Reads the table of an assembly test.
pub(crate) fn parse_table<'a>(arch: Arch, lexer: &mut Lexer<'a>, test: &mut Test<'a>) -> Parsed<()> {
    match arch {
        Arch::Ppc => table::<Ppc>(lexer, test),
        Arch::X86 => table::<X86>(lexer, test),
        Arch::X86_64 => table::<X86_64>(lexer, test),
        Arch::AArch64 => table::<AArch64>(lexer, test),
        Arch::Arm => table::<Arm>(lexer, test),
        Arch::RiscV => table::<RiscV>(lexer, test),
        Arch::C => Ok(()),
    }
}

/// The register of a thread that a condition or an initial state names.
pub(crate) fn named_register<'a>(arch: Arch, thread: &mut ThreadBuilder<'a>, name: &'a str) -> Option<Reg> {
    match arch {
        Arch::Ppc => lookup::<Ppc>(thread, name),
        Arch::X86 => lookup::<X86>(thread, name),
        Arch::X86_64 => lookup::<X86_64>(thread, name),
        Arch::AArch64 => lookup::<AArch64>(thread, name),
        Arch::Arm => lookup::<Arm>(thread, name),
        Arch::RiscV => lookup::<RiscV>(thread, name),
        Arch::C => None,
    }
    .map(|(reg, _)| reg)
}

fn lookup<'a, I: Isa>(thread: &mut ThreadBuilder<'a>, name: &'a str) -> Option<(Reg, bool)> {
    Names::of::<I>().find(thread, name)
}

/// How an architecture names its registers.
#[derive(Clone, Copy)]
struct Names {
    register: fn(&str) -> Option<(Key, bool)>,
    register_name: fn(Key) -> String,
    example: &'static str,
    has_narrow_names: bool,
}

impl Names {
    fn of<I: Isa>() -> Names {
        Names {
            register: I::register,
            register_name: I::register_name,
            example: I::REGISTER,
            has_narrow_names: I::HAS_NARROW_NAMES,
        }
    }

    fn find<'a>(self, thread: &mut ThreadBuilder<'a>, name: &'a str) -> Option<(Reg, bool)> {
        if let Some((key, narrow)) = (self.register)(name) {
            return Some((thread.register(key, || (self.register_name)(key)), narrow));
        }
        // `W%y` says in which size it is used, as `%w0` does: `%w0` and `%x0` are one symbolic register of AArch64.
        let (size, symbol) = name.split_once('%')?;
        let sized = self.has_narrow_names && matches!(size, "W" | "w" | "X" | "x");
        if symbol.is_empty() || !(size.is_empty() || sized) {
            return None;
        }
        let base = symbol.strip_prefix(['w', 'x']).filter(|base| self.has_narrow_names && !base.is_empty());
        let key = thread.symbolic_key(base.unwrap_or(symbol))?;
        let narrow = match size {
            "" => base.is_some() && symbol.starts_with('w'),
            _ => size.eq_ignore_ascii_case("W"),
        };
        let shown = || base.map_or_else(|| format!("%{symbol}"), |base| format!("%x{base}"));
        Some((thread.register(key, shown), narrow))
    }
}

fn table<'a, I: Isa>(lexer: &mut Lexer<'a>, test: &mut Test<'a>) -> Parsed<()> {
    parse_threads::<I>(lexer, test)?;
    let mut column = 0;
    let mut at_row_start = true;
    loop {
        if at_row_start && condition::starts_condition(lexer) {
            return Ok(());
        }
        at_row_start = false;
        if let Err(error) = parse_cell::<I>(lexer, test, column) {
            skip_to(lexer, &error, &["|", ";"]);
            if matches!(lexer.peek().kind, Kind::Eof | Kind::Unclosed) {
                return Err(error);
            }
            test.report(*error);
        }
        let end = lexer.peek();
        match lexer.text(end) {
            "|" => {
                lexer.next();
                column += 1;
                if column >= test.threads.len() {
                    return Err(too_many_columns(test, end));
                }
            }
            ";" => {
                lexer.next();
                column = 0;
                at_row_start = true;
            }
            _ => return Err(expected(lexer, end, "`;` at the end of the row")),
        }
        if test.has_too_many_errors() {
            return Err(Box::new(
                Diagnostic::error(end.span(), "too many errors").label("stopped reading here"),
            ));
        }
    }
}

fn too_many_columns(test: &Test<'_>, at: Token) -> Box<Diagnostic> {
    let message = format!("this row has more columns than there are threads ({})", test.threads.len());
    Box::new(
        Diagnostic::error(at.span(), message)
            .label("a column too many")
            .hint("rows end with `;`, and their columns are separated by `|`"),
    )
}

/// Reads the row `P0 | P1 | ... ;` and gives the threads their initial registers.
fn parse_threads<'a, I: Isa>(lexer: &mut Lexer<'a>, test: &mut Test<'a>) -> Parsed<()> {
    loop {
        let token = lexer.next();
        let text = lexer.text(token);
        let number = thread_number(text).filter(|_| token.kind == Kind::Ident);
        let Some(number) = number else { return Err(expected(lexer, token, "a thread such as `P0`")) };
        if test.thread_index(number).is_some() {
            let message = format!("there are two threads `{text}`");
            return Err(Box::new(Diagnostic::error(token.span(), message).label("this name is taken")));
        }
        test.threads.push(ThreadBuilder::new(number));
        if lexer.eat(";") {
            break;
        }
        if !lexer.eat("|") {
            return Err(expected_next(lexer, "`|` or `;`"));
        }
    }
    set_registers::<I>(test);
    Ok(())
}

fn set_registers<I: Isa>(test: &mut Test<'_>) {
    for index in 0..test.register_inits.len() {
        let init = &test.register_inits[index];
        let (number, name, span, value, wide) =
            (init.thread, init.register, init.span, init.value, init.is_wide);
        let threads = match number {
            None => 0..test.threads.len(),
            Some(number) => match test.thread_index(number) {
                Some(thread) => thread..thread + 1,
                None => {
                    test.report(*test.no_such_thread(number, span));
                    continue;
                }
            },
        };
        for thread in threads {
            let thread = &mut test.threads[thread];
            let Some((reg, _)) = lookup::<I>(thread, name) else {
                test.report(*not_a_register(name, span, I::REGISTER));
                break;
            };
            // Two names of one register, `0:W1` and `0:X1`, would come twice; the last one counts.
            match thread.args.get_mut(reg.0 as usize) {
                Some(arg) => *arg = value,
                None => thread.parameter(reg, value),
            }
            if wide {
                thread.wide_read(reg);
            }
        }
    }
}

fn parse_cell<'a, I: Isa>(lexer: &mut Lexer<'a>, test: &mut Test<'a>, column: usize) -> Parsed<()> {
    let mut token;
    loop {
        token = lexer.peek();
        if token.kind != Kind::Ident {
            break;
        }
        let after = lexer.peek_second();
        if lexer.text(after) != ":" {
            break;
        }
        lexer.next();
        lexer.next();
        test.threads[column].define_label(lexer.text(token), token.span())?;
        test.threads[column].lines.push(Line::Label(token.span()));
    }
    if token.kind == Kind::Op && matches!(lexer.text(token), "|" | ";") {
        return Ok(());
    }
    if token.kind != Kind::Ident {
        return Err(expected(lexer, token, "an instruction or a label"));
    }
    lexer.next();
    let text = lexer.text(token);
    let thread = &mut test.threads[column];
    thread.span = token.span();
    let first = thread.function.spans.len();
    let mut buffer = [0; 16];
    let known = match lower_case(text, &mut buffer) {
        Some(mnemonic) => {
            let mut cell = Cell { lexer, test, column, names: Names::of::<I>() };
            I::instruction(&mut cell, mnemonic)?
        }
        None => false,
    };
    if !known {
        let message = format!("unknown {} instruction `{text}`", I::NAME);
        let error = Diagnostic::error(token.span(), message).label("not known here");
        return Err(suggest(Box::new(error), text, I::MNEMONICS.iter().copied()));
    }
    // The instruction with its operands, for those who show where an event comes from.
    test.threads[column].widen_spans(first, token.start, lexer.position());
    let whole = Span { start: token.start, end: lexer.position() };
    test.threads[column].lines.push(Line::Instruction(whole));
    let end = lexer.peek();
    if !matches!(lexer.text(end), "|" | ";") {
        return Err(expected(lexer, end, &format!("`|` or `;` after this `{text}`")));
    }
    Ok(())
}

fn lower_case<'b>(text: &str, buffer: &'b mut [u8; 16]) -> Option<&'b str> {
    let target = buffer.get_mut(..text.len())?;
    target.copy_from_slice(text.as_bytes());
    target.make_ascii_lowercase();
    std::str::from_utf8(target).ok()
}

fn not_a_register(name: &str, span: Span, example: &str) -> Box<Diagnostic> {
    let message = format!("`{name}` is not a register of this architecture");
    Box::new(Diagnostic::error(span, message).label(format!("expected a register such as `{example}`")))
}

impl<'a> Cell<'_, 'a> {
    /// The thread that the instruction belongs to.
    pub(crate) fn thread(&mut self) -> &mut ThreadBuilder<'a> {
        &mut self.test.threads[self.column]
    }

    /// Consumes a comma.
    pub(crate) fn comma(&mut self) -> Parsed<()> {
        self.expect(",")
    }

    /// Consumes an operator.
    pub(crate) fn expect(&mut self, op: &str) -> Parsed<()> {
        crate::error::expect(self.lexer, op).map(|_| ())
    }

    /// A register, by its key, and whether its narrow name was used. Symbolic registers have keys too.
    pub(crate) fn register(&mut self) -> Parsed<(Reg, bool)> {
        let token = self.lexer.peek();
        if token.kind == Kind::Ident {
            let name = self.lexer.text(token);
            let names = self.names;
            if let Some(found) = names.find(self.thread(), name) {
                self.lexer.next();
                return Ok(found);
            }
        }
        Err(self.expected(&format!("a register such as `{}`", self.names.example)))
    }

    /// True if the next token is a register.
    pub(crate) fn at_register(&mut self) -> bool {
        let token = self.lexer.peek();
        let name = self.lexer.text(token);
        token.kind == Kind::Ident && (name.contains('%') || (self.names.register)(name).is_some())
    }

    /// The key of the next token if it is a register of the architecture.
    pub(crate) fn peek_key(&mut self) -> Option<Key> {
        let token = self.lexer.peek();
        if token.kind != Kind::Ident {
            return None;
        }
        (self.names.register)(self.lexer.text(token)).map(|(key, _)| key)
    }

    /// A number, with or without `#` or `$` in front.
    pub(crate) fn immediate(&mut self) -> Parsed<Value> {
        if !self.lexer.eat("#") {
            self.lexer.eat("$");
        }
        match parse_integer(self.lexer)? {
            Some(value) => Ok(value),
            None => Err(self.expected("a number")),
        }
    }

    /// True if the next token can start a number.
    pub(crate) fn at_immediate(&mut self) -> bool {
        self.lexer.peek().kind == Kind::Number || ["#", "$", "-"].iter().any(|op| self.lexer.at(op))
    }

    /// A label to go to.
    pub(crate) fn label(&mut self) -> Parsed<(&'a str, Span)> {
        let token = self.lexer.peek();
        if token.kind != Kind::Ident {
            return Err(self.expected("a label"));
        }
        self.lexer.next();
        Ok((self.lexer.text(token), token.span()))
    }

    /// The error "expected this" at the next token.
    pub(crate) fn expected(&mut self, what: &str) -> Box<Diagnostic> {
        expected_next(self.lexer, what)
    }

    /// The error for an instruction that exists but is not modelled.
    pub(crate) fn unsupported(&mut self, why: &str) -> Box<Diagnostic> {
        let span = self.thread().span;
        let message = format!("`{}` is not supported", self.lexer.slice(span));
        Box::new(Diagnostic::error(span, message).label(why.to_string()))
    }

    /// Assigns to a temporary and returns it.
    pub(crate) fn compute(&mut self, temporary: usize, value: Rvalue) -> Operand {
        let thread = self.thread();
        let reg = thread.temporary(temporary);
        thread.assign(reg, value);
        reg.into()
    }
}
