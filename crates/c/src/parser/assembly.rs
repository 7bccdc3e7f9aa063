//! Inline assembly: fences of all architectures, and the instructions of x86, AArch64 and POWER that atomic operations are
//! written in.
//!
//! An operand in a register is a variable, one in memory is a place. `lock` and `xchg` make a sequentially consistent
//! read-modify-write between full fences, which is what the processor gives; other loads acquire and other stores release. What
//! is not known here is an error where it is reached.

mod aarch64;
mod power;
mod risc;
mod translation;
mod x86;

use super::{Parser, Res, unsupported};
use crate::ast::{Expr, ExprKind, StmtKind};
use crate::builtins::Builtin;
use crate::literal;
use crate::target::Target;
use crate::token::{Keyword, Punct, TokenKind};
use crate::types::Ty;
use fencepost_diag::{Diagnostic, Span};
use fencepost_ir::fence::{Isa, TABLE};
use fencepost_ir::{FailKind, Fence};

/// An operand of the assembly.
struct AsmOperand {
    /// `[name]`.
    name: Option<String>,
    constraint: String,
    expr: Expr,
    output: bool,
}

/// An `asm` statement.
struct Assembly {
    text: String,
    operands: Vec<AsmOperand>,
    /// It may jump.
    jumps: bool,
    span: Span,
}

impl Parser<'_> {
    pub(super) fn asm_statement(&mut self) -> Res<StmtKind> {
        let assembly = self.assembly()?;
        self.expect(Punct::Semi, "after the assembly")?;
        // Without an instruction an operand that is read and written keeps its value.
        let empty = assembly.text.trim().is_empty();
        let kept = |operand: &AsmOperand| !operand.output || operand.constraint.contains('+');
        if (assembly.operands.is_empty() || empty && assembly.operands.iter().all(kept))
            && !assembly.jumps
            && let Some(found) = fences(&assembly.text)
        {
            let platform = found.iter().find_map(|fence| platform(*fence));
            self.warn_of_assembly(platform, assembly.span);
            return Ok(StmtKind::Asm(found));
        }
        let (text, span) = (assembly.text.trim().to_string(), assembly.span);
        if matches!(text.as_str(), "ud2" | "int3" | "hlt") {
            let message = format!("{text} is reached");
            let kind = ExprKind::Builtin(Builtin::Fail(FailKind::Assertion, message), Vec::new());
            return Ok(StmtKind::Expr(Some(Expr { kind, ty: Ty::VOID.into(), span })));
        }
        // `mov` has its operands the other way round elsewhere: the processor that is compiled for comes first, then x86.
        let mut known = [Target::X86_64, Target::Aarch64, Target::Powerpc64];
        known.sort_by_key(|target| *target != self.target);
        for target in known.into_iter().filter(|_| !assembly.jumps) {
            let block = match target {
                Target::Aarch64 => self.risc_block(&assembly, aarch64::decode)?,
                Target::Powerpc64 => self.risc_block(&assembly, power::decode)?,
                _ => self.x86_block(&assembly)?,
            };
            if let Some(block) = block {
                self.warn_of_assembly(Some(target), span);
                return Ok(StmtKind::Block(block));
            }
        }
        unsupported(
            span,
            format!("the assembly {text:?}"),
            "known are fences, the empty compiler barrier, and what atomic operations are written in: mov xchg xadd cmpxchg and \
             arithmetic of x86, loads, stores, exclusives and atomics of AArch64, loads, stores and reservations of POWER; use \
             C11 atomics for anything else",
        )
    }

    /// Assembly of a platform that is not the one of the model would not assemble there: that is worth a word.
    fn warn_of_assembly(&mut self, of: Option<Target>, span: Span) {
        let Some(of) = of.filter(|of| self.target != Target::Generic && *of != self.target) else { return };
        let message = format!(
            "this is assembly of {}, and the program is checked for {}",
            of.name(),
            self.target.name()
        );
        let hint =
            "a fence is taken for the one of the same kind, another instruction for what it does to memory";
        self.warnings.push(Diagnostic::warning(span, message).hint(hint));
    }

    fn assembly(&mut self) -> Res<Assembly> {
        let start = self.advance().span;
        let mut jumps = false;
        loop {
            match self.keyword() {
                Some(Keyword::Volatile | Keyword::Volatile2 | Keyword::Volatile3) => {}
                Some(Keyword::Inline | Keyword::Inline2 | Keyword::Inline3) => {}
                Some(Keyword::Goto) => jumps = true,
                _ => break,
            }
            self.at += 1;
        }
        self.expect(Punct::LParen, "after `asm`")?;
        let text = self.asm_text();
        let mut operands = Vec::new();
        // Outputs and inputs; what is clobbered says nothing here.
        for output in [true, false] {
            if self.eat(Punct::Colon) {
                self.asm_operands(output, &mut operands)?;
            }
        }
        let open = self.last_span();
        while !self.is(Punct::RParen) {
            if self.advance().kind == TokenKind::Eof {
                return super::fail(open, "this assembly is never closed");
            }
        }
        let end = self.advance().span;
        Ok(Assembly { text, operands, jumps, span: start.to(end) })
    }

    fn asm_text(&mut self) -> String {
        let mut text = String::new();
        while self.peek().kind == TokenKind::Str {
            let symbol = self.advance().symbol;
            let bytes = literal::string(self.interner.text(symbol)).unwrap_or_default();
            text.push_str(&String::from_utf8_lossy(&bytes));
        }
        text
    }

    fn asm_operands(&mut self, output: bool, operands: &mut Vec<AsmOperand>) -> Res<()> {
        while !self.is(Punct::Colon) && !self.is(Punct::RParen) {
            let mut name = None;
            if self.eat(Punct::LBracket) {
                let (symbol, _) = self.identifier("the name of an operand")?;
                name = Some(self.name(symbol));
                self.expect(Punct::RBracket, "after the name of the operand")?;
            }
            let constraint = self.asm_text();
            self.expect(Punct::LParen, "before the operand")?;
            let expr = self.nested(|p| p.expression())?;
            self.expect(Punct::RParen, "after the operand")?;
            operands.push(AsmOperand { name, constraint, expr, output });
            if !self.eat(Punct::Comma) {
                break;
            }
        }
        Ok(())
    }
}

/// The platform that a fence is an instruction of.
fn platform(fence: Fence) -> Option<Target> {
    match fence.row().isa {
        Isa::Power => Some(Target::Powerpc64),
        Isa::X86 => Some(Target::X86_64),
        Isa::Arm => Some(Target::Aarch64),
        Isa::RiscV | Isa::Language => None,
    }
}

/// The fences of an assembly text; `None` if it has any other instruction.
pub(super) fn fences(text: &str) -> Option<Vec<Fence>> {
    let mut found = Vec::new();
    for line in text.split(['\n', ';']) {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase();
        let fence = match line.as_str() {
            "" | "nop" | "pause" | "yield" | "rep" | "rep nop" => Fence::Compiler,
            "hwsync" | "sync 0" => Fence::Sync,
            "sync 1" => Fence::Lwsync,
            // A locked addition of zero to the stack is how x86 code writes a full fence.
            "lock" => Fence::Compiler,
            _ if line.trim_start_matches("lock ").starts_with("addl $0") && text.contains("lock") => {
                Fence::Mfence
            }
            "dmb" | "dmb ish" => Fence::DmbSy,
            "dmb ishld" => Fence::DmbLd,
            "dmb ishst" => Fence::DmbSt,
            "dsb" | "dsb ish" => Fence::DsbSy,
            "dsb ishld" => Fence::DsbLd,
            "dsb ishst" => Fence::DsbSt,
            "isb sy" => Fence::Isb,
            // As the table writes them.
            _ => TABLE.iter().find(|row| row.text == line)?.fence,
        };
        if fence != Fence::Compiler || found.is_empty() {
            found.push(fence);
        }
    }
    if found.len() > 1 {
        found.retain(|f| *f != Fence::Compiler);
    }
    Some(if found.is_empty() { vec![Fence::Compiler] } else { found })
}
