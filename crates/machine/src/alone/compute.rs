//! The loop that runs decoded operations.
//!
//! It does only what goes well. An operand without a value, an access that is not within a live object, a division by zero: in
//! front of all that it leaves off, and `step` says what is wrong.

use super::Run;
use super::decode::{Op, Regs, WINDOW};
use fencepost_ir::Value;

const UNDEFINED: u64 = Value::UNDEFINED.0;

impl Run<'_> {
    /// Runs operations of the running function, up to the first that is left to `step`. It looks at the number of steps where the
    /// function goes back: each loop does.
    pub(super) fn compute(&mut self, until: u64) {
        match self.frames.last() {
            Some(frame) if frame.careful => self.operate::<true>(until as i64),
            _ => self.operate::<false>(until as i64),
        }
    }

    /// If not `CAREFUL`, all registers have values, and it leaves off in front of what would change that.
    fn operate<const CAREFUL: bool>(&mut self, until: i64) {
        let Some(frame) = self.frames.last_mut() else { return };
        let ops = self.code.functions[frame.function as usize].ops.as_slice();
        let Some(regs) = self.registers[frame.base..].first_chunk_mut::<WINDOW>() else { return };
        let memory = &mut self.memory;
        let mut at = frame.at as usize;
        // The steps up to here, less the place: only jumps change that.
        let mut offset = self.steps as i64 - at as i64;

        macro_rules! known {
            ($($value:expr),*) => {
                if CAREFUL && ($($value == UNDEFINED)||*) {
                    break;
                }
            };
        }
        macro_rules! set {
            ($d:expr, $value:expr) => {{
                let value = $value as u64;
                // By chance, or loaded: no narrow result is this number.
                if value == UNDEFINED {
                    break;
                }
                regs[$d as usize] = value;
                at += 1;
            }};
        }
        macro_rules! binary {
            ($regs:expr, |$a:ident, $b:ident| $value:expr) => {{
                let ($a, $b) = (regs[$regs.a as usize], regs[$regs.b as usize]);
                known!($a, $b);
                set!($regs.d, $value)
            }};
        }
        macro_rules! extend {
            ($regs:expr, $to:ty) => {{
                let value = regs[$regs.a as usize];
                known!(value);
                set!($regs.d, value as $to)
            }};
        }
        macro_rules! load {
            ($regs:expr, $to:ty) => {{
                let Some(bytes) = memory.read(regs[$regs.a as usize]) else { break };
                set!($regs.d, <$to>::from_le_bytes(bytes))
            }};
        }
        macro_rules! store {
            ($regs:expr, $to:ty) => {{
                let value = regs[$regs.b as usize];
                known!(value);
                let Some(()) = memory.write(regs[$regs.a as usize], (value as $to).to_le_bytes()) else {
                    break;
                };
                at += 1;
            }};
        }
        macro_rules! go {
            ($length:expr, $to:expr) => {{
                let to = $to as usize;
                offset += at as i64 + $length as i64 - to as i64;
                at = to;
                if offset >= until {
                    break;
                }
            }};
        }
        macro_rules! fork {
            ($length:expr, $fork:expr, |$a:ident, $b:ident| $holds:expr) => {{
                let ($a, $b) = (regs[$fork.a as usize], regs[$fork.b as usize]);
                known!($a, $b);
                if $holds {
                    go!($length, $fork.to());
                } else {
                    offset += $length as i64 - $fork.forward as i64;
                    at += $fork.forward as usize;
                }
            }};
        }

        macro_rules! count {
            ($by:expr, $length:expr, $fork:expr, |$a:ident, $b:ident| $sum:expr, |$c:ident, $d:ident| $holds:expr) => {{
                binary!(Regs { d: $fork.a, a: $fork.a, b: $by }, |$a, $b| $sum);
                fork!($length, $fork, |$c, $d| $holds)
            }};
        }

        while let Some(op) = ops.get(at) {
            match *op {
                Op::Step => break,
                Op::Move(Regs { d, a, .. }) => {
                    regs[d as usize] = regs[a as usize];
                    at += 1;
                }
                Op::ExtendS8(r) => extend!(r, i8),
                Op::ExtendU8(r) => extend!(r, u8),
                Op::ExtendS16(r) => extend!(r, i16),
                Op::ExtendU16(r) => extend!(r, u16),
                Op::ExtendS32(r) => extend!(r, i32),
                Op::ExtendU32(r) => extend!(r, u32),
                Op::Select(Regs { d, a, b }, condition) => {
                    let condition = regs[condition as usize];
                    known!(condition);
                    regs[d as usize] = regs[if condition != 0 { a } else { b } as usize];
                    at += 1;
                }
                Op::AddS32(r) => binary!(r, |a, b| (a as i32).wrapping_add(b as i32)),
                Op::AddU32(r) => binary!(r, |a, b| (a as u32).wrapping_add(b as u32)),
                Op::Add64(r) => binary!(r, |a, b| a.wrapping_add(b)),
                Op::SubS32(r) => binary!(r, |a, b| (a as i32).wrapping_sub(b as i32)),
                Op::SubU32(r) => binary!(r, |a, b| (a as u32).wrapping_sub(b as u32)),
                Op::Sub64(r) => binary!(r, |a, b| a.wrapping_sub(b)),
                Op::MulS32(r) => binary!(r, |a, b| (a as i32).wrapping_mul(b as i32)),
                Op::MulU32(r) => binary!(r, |a, b| (a as u32).wrapping_mul(b as u32)),
                Op::Mul64(r) => binary!(r, |a, b| a.wrapping_mul(b)),
                Op::AndS32(r) => binary!(r, |a, b| a as i32 & b as i32),
                Op::AndU32(r) => binary!(r, |a, b| a as u32 & b as u32),
                Op::And64(r) => binary!(r, |a, b| a & b),
                Op::OrS32(r) => binary!(r, |a, b| a as i32 | b as i32),
                Op::OrU32(r) => binary!(r, |a, b| a as u32 | b as u32),
                Op::Or64(r) => binary!(r, |a, b| a | b),
                Op::XorS32(r) => binary!(r, |a, b| a as i32 ^ b as i32),
                Op::XorU32(r) => binary!(r, |a, b| a as u32 ^ b as u32),
                Op::Xor64(r) => binary!(r, |a, b| a ^ b),
                Op::Eq32(r) => binary!(r, |a, b| a as u32 == b as u32),
                Op::Eq64(r) => binary!(r, |a, b| a == b),
                Op::Ne32(r) => binary!(r, |a, b| a as u32 != b as u32),
                Op::Ne64(r) => binary!(r, |a, b| a != b),
                Op::LtS32(r) => binary!(r, |a, b| (a as i32) < b as i32),
                Op::LtU32(r) => binary!(r, |a, b| (a as u32) < b as u32),
                Op::LtS64(r) => binary!(r, |a, b| (a as i64) < b as i64),
                Op::LtU64(r) => binary!(r, |a, b| a < b),
                Op::LeS32(r) => binary!(r, |a, b| a as i32 <= b as i32),
                Op::LeU32(r) => binary!(r, |a, b| a as u32 <= b as u32),
                Op::LeS64(r) => binary!(r, |a, b| a as i64 <= b as i64),
                Op::LeU64(r) => binary!(r, |a, b| a <= b),
                Op::Binary(op, width, extend, Regs { d, a, b }) => {
                    let (a, b) = (regs[a as usize], regs[b as usize]);
                    known!(a, b);
                    let Some(value) = op.apply(width, Value(a), Value(b)) else { break };
                    set!(d, width.extend(extend, value).0)
                }
                Op::Unary(op, width, extend, Regs { d, a, .. }) => {
                    let a = regs[a as usize];
                    known!(a);
                    set!(d, width.extend(extend, op.apply(width, Value(a))).0)
                }
                Op::LoadS8(r) => load!(r, i8),
                Op::LoadU8(r) => load!(r, u8),
                Op::LoadS16(r) => load!(r, i16),
                Op::LoadU16(r) => load!(r, u16),
                Op::LoadS32(r) => load!(r, i32),
                Op::LoadU32(r) => load!(r, u32),
                Op::Load64(r) => load!(r, u64),
                Op::Store8(r) => store!(r, u8),
                Op::Store16(r) => store!(r, u16),
                Op::Store32(r) => store!(r, u32),
                Op::Store64(r) => store!(r, u64),
                Op::Defined(Regs { a, .. }) => {
                    known!(regs[a as usize]);
                    at += 1;
                }
                Op::Holds(Regs { a, .. }) => {
                    known!(regs[a as usize]);
                    if regs[a as usize] == 0 {
                        break;
                    }
                    at += 1;
                }
                Op::Jump(to) => go!(1, to),
                Op::Branch { a, then_to, else_to } => {
                    known!(regs[a as usize]);
                    match regs[a as usize] {
                        0 => go!(1, else_to),
                        _ => go!(1, then_to),
                    }
                }
                Op::ForkEq32(n, f) => fork!(n, f, |a, b| a as u32 == b as u32),
                Op::ForkEq64(n, f) => fork!(n, f, |a, b| a == b),
                Op::ForkNe32(n, f) => fork!(n, f, |a, b| a as u32 != b as u32),
                Op::ForkNe64(n, f) => fork!(n, f, |a, b| a != b),
                Op::ForkLtS32(n, f) => fork!(n, f, |a, b| (a as i32) < b as i32),
                Op::ForkLtU32(n, f) => fork!(n, f, |a, b| (a as u32) < b as u32),
                Op::ForkLtS64(n, f) => fork!(n, f, |a, b| (a as i64) < b as i64),
                Op::ForkLtU64(n, f) => fork!(n, f, |a, b| a < b),
                Op::ForkLeS32(n, f) => fork!(n, f, |a, b| a as i32 <= b as i32),
                Op::ForkLeU32(n, f) => fork!(n, f, |a, b| a as u32 <= b as u32),
                Op::ForkLeS64(n, f) => fork!(n, f, |a, b| a as i64 <= b as i64),
                Op::ForkLeU64(n, f) => fork!(n, f, |a, b| a <= b),
                Op::CountLtS32(by, n, f) => {
                    count!(by, n, f, |a, b| (a as i32).wrapping_add(b as i32), |a, b| (a as i32) < b as i32)
                }
                Op::CountLeS32(by, n, f) => {
                    count!(by, n, f, |a, b| (a as i32).wrapping_add(b as i32), |a, b| a as i32 <= b as i32)
                }
                Op::CountLtU32(by, n, f) => {
                    count!(by, n, f, |a, b| (a as u32).wrapping_add(b as u32), |a, b| (a as u32) < b as u32)
                }
                Op::CountLtU64(by, n, f) => count!(by, n, f, |a, b| a.wrapping_add(b), |a, b| a < b),
                Op::AddAddS32(r, then) => {
                    binary!(r, |a, b| (a as i32).wrapping_add(b as i32));
                    binary!(then, |a, b| (a as i32).wrapping_add(b as i32))
                }
                Op::SubAddS32(r, then) => {
                    binary!(r, |a, b| (a as i32).wrapping_sub(b as i32));
                    binary!(then, |a, b| (a as i32).wrapping_add(b as i32))
                }
                Op::MulAddS32(r, then) => {
                    binary!(r, |a, b| (a as i32).wrapping_mul(b as i32));
                    binary!(then, |a, b| (a as i32).wrapping_add(b as i32))
                }
                Op::AndAddS32(r, then) => {
                    binary!(r, |a, b| a as i32 & b as i32);
                    binary!(then, |a, b| (a as i32).wrapping_add(b as i32))
                }
                Op::AddAdd64(r, then) => {
                    binary!(r, |a, b| a.wrapping_add(b));
                    binary!(then, |a, b| a.wrapping_add(b))
                }
                Op::MulAdd64(r, then) => {
                    binary!(r, |a, b| a.wrapping_mul(b));
                    binary!(then, |a, b| a.wrapping_add(b))
                }
            }
        }
        frame.at = at as u32;
        self.steps = (offset + at as i64) as u64;
    }
}
