//! The initial state: `{ 0:r2=x; x=1; [y]=2; uint64_t z; int *p = &x; int a[2]={0,1}; }`.

use crate::error::{Parsed, expect, expected, expected_next};
use crate::lexer::{Kind, Lexer, Token, number};
use crate::test::{RegisterInit, Test, skip_to, thread_number};
use crate::types::{Type, parse_type};
use fencepost_diag::Diagnostic;
use fencepost_ir::{ObjectId, Span, Value, Width};

/// The largest array that an initial state may declare: more is surely a slip.
const MOST_ELEMENTS: u64 = 4096;

/// Reads the initial state, from its opening to after its closing brace and a semicolon that may follow.
pub(crate) fn parse_init<'a>(lexer: &mut Lexer<'a>, test: &mut Test<'a>) -> Parsed<()> {
    let open = lexer.next();
    loop {
        while lexer.eat(";") {}
        if lexer.eat("}") {
            break;
        }
        if lexer.peek().kind == Kind::Eof {
            // What was wrong on the way is the program, taken for a part of the initial state.
            test.errors.clear();
            return Err(never_closed(open));
        }
        if at_threads(lexer) {
            let threads = lexer.peek().span();
            return Err(Box::new(never_closed(open).related(threads, "the program begins here")));
        }
        if let Err(error) = parse_item(lexer, test) {
            skip_to(lexer, &error, &[";", "}"]);
            if lexer.peek().kind == Kind::Unclosed || test.has_too_many_errors() {
                return Err(error);
            }
            test.report(*error);
        }
    }
    lexer.eat(";");
    Ok(())
}

fn never_closed(open: Token) -> Box<Diagnostic> {
    let error = Diagnostic::error(open.span(), "the initial state is never closed");
    Box::new(error.label("opened here").hint("close it with `}`"))
}

/// True at `P0 |`, `P0 ;` or `P0 (`: that is the program.
fn at_threads(lexer: &mut Lexer<'_>) -> bool {
    let (first, second) = (lexer.peek(), lexer.peek_second());
    let is_thread = first.kind == Kind::Ident && thread_number(lexer.text(first)).is_some();
    is_thread && matches!(lexer.text(second), "|" | ";" | "(")
}

fn parse_item<'a>(lexer: &mut Lexer<'a>, test: &mut Test<'a>) -> Parsed<()> {
    let ty = leading_type(lexer)?;
    let bracketed = lexer.eat("[");
    let first = lexer.next();
    let is_wide = ty.is_some_and(|ty| ty.width() == Width::W64 && !ty.is_pointer());
    if !bracketed && lexer.eat(":") {
        return parse_register(lexer, test, first, is_wide);
    }
    if !bracketed && first.kind == Kind::Ident && lexer.text(first).starts_with('%') {
        return set_register(lexer, test, None, (lexer.text(first), first.span()), is_wide);
    }
    if first.kind != Kind::Ident {
        return Err(expected(lexer, first, "a location such as `x` or a register such as `0:r1`"));
    }
    let name = lexer.text(first);
    if bracketed && !lexer.eat("]") {
        return Err(expected_next(lexer, "`]`"));
    }
    let object = test.global(name, first.span());
    if let Some(ty) = ty {
        test.globals[object.0 as usize].ty = Some(ty);
    }
    if !bracketed && lexer.eat("[") {
        parse_array(lexer, test, object, first)?;
    } else if lexer.eat("=") {
        let value = parse_value(lexer, test)?;
        set_initial(test, object, vec![value], first)?;
    } else if ty.is_none() && !(lexer.at(";") || lexer.at("}")) {
        return Err(expected_next(lexer, "`=` and a value"));
    }
    if !(lexer.at(";") || lexer.at("}")) {
        return Err(expected_next(lexer, "`;`"));
    }
    Ok(())
}

/// The type in front of an item, if there is one. A word is a type if another word, a star or a thread follows it.
fn leading_type(lexer: &mut Lexer<'_>) -> Parsed<Option<Type>> {
    let first = lexer.peek();
    let second = lexer.peek_second();
    if lexer.at("*") {
        // A pointer to who knows what.
        lexer.next();
        return Ok(Some(Type::INT.pointer_to()));
    }
    let is_type = first.kind == Kind::Ident
        && (matches!(second.kind, Kind::Ident | Kind::Number) || lexer.text(second) == "*");
    if !is_type {
        return Ok(None);
    }
    match parse_type(lexer) {
        Some(ty) => Ok(Some(ty)),
        None => {
            let message = format!("unknown type `{}`", lexer.text(first));
            let hint = "known are `int`, `long`, `char`, `int8_t` to `uint128_t`, their `atomic_` forms and pointers";
            Err(Box::new(Diagnostic::error(first.span(), message).label("not a type").hint(hint)))
        }
    }
}

/// The rest of `0:r1=value`, after the colon.
fn parse_register<'a>(
    lexer: &mut Lexer<'a>,
    test: &mut Test<'a>,
    thread: Token,
    is_wide: bool,
) -> Parsed<()> {
    let Some(number) = thread_number(lexer.text(thread)) else {
        return Err(expected(lexer, thread, "a thread such as `0` or `P0`"));
    };
    let token = lexer.next();
    if token.kind != Kind::Ident {
        return Err(expected(lexer, token, "a register"));
    }
    let span = thread.span().to(token.span());
    set_register(lexer, test, Some(number), (lexer.text(token), span), is_wide)
}

/// The rest of `0:r1=value`, after the register; without a thread, that of a symbolic register of all threads.
fn set_register<'a>(
    lexer: &mut Lexer<'a>,
    test: &mut Test<'a>,
    number: Option<u32>,
    (register, span): (&'a str, Span),
    is_wide: bool,
) -> Parsed<()> {
    let mut value = Value::ZERO;
    if lexer.eat("=") {
        value = parse_value(lexer, test)?;
    }
    if !(lexer.at(";") || lexer.at("}")) {
        return Err(expected_next(lexer, "`;`"));
    }
    let earlier = test.register_inits.iter().find(|r| r.thread == number && r.register == register);
    match earlier {
        Some(earlier) if earlier.value != value => Err(Box::new(
            Diagnostic::error(
                span,
                match number {
                    Some(number) => {
                        format!("register `{register}` of thread {number} has two initial values")
                    }
                    None => format!("register `{register}` has two initial values"),
                },
            )
            .label("set again here")
            .related(earlier.span, "first set here"),
        )),
        Some(_) => Ok(()),
        None => {
            test.register_inits.push(RegisterInit { thread: number, register, span, value, is_wide });
            Ok(())
        }
    }
}

/// The rest of `x[2]={0,1}`, after the opening bracket.
fn parse_array<'a>(lexer: &mut Lexer<'a>, test: &mut Test<'a>, object: ObjectId, name: Token) -> Parsed<()> {
    let token = lexer.next();
    let size = match number(lexer.text(token)) {
        Some(size) if token.kind == Kind::Number && (1..=MOST_ELEMENTS).contains(&size) => size as usize,
        _ => return Err(expected(lexer, token, "the number of elements, from 1 to 4096")),
    };
    if !lexer.eat("]") {
        return Err(expected_next(lexer, "`]`"));
    }
    test.globals[object.0 as usize].is_array = true;
    let mut values = Vec::new();
    if lexer.eat("=") {
        if !lexer.eat("{") {
            return Err(expected_next(lexer, "`{` and the elements"));
        }
        while !lexer.eat("}") {
            values.push(parse_value(lexer, test)?);
            if !lexer.eat(",") && !lexer.at("}") {
                return Err(expected_next(lexer, "`,` or `}`"));
            }
        }
    }
    if values.len() > size {
        let message = format!("`{}` has {size} elements, but {} values", lexer.text(name), values.len());
        return Err(Box::new(Diagnostic::error(name.span(), message).label("too many values")));
    }
    values.resize(size, Value::ZERO);
    set_initial(test, object, values, name)
}

fn set_initial(test: &mut Test<'_>, object: ObjectId, values: Vec<Value>, name: Token) -> Parsed<()> {
    let global = &mut test.globals[object.0 as usize];
    if let Some(earlier) = global.init_span
        && global.init != values
    {
        let message = format!("`{}` has two initial values", global.name);
        let error = Diagnostic::error(name.span(), message).label("set again here");
        return Err(Box::new(error.related(earlier, "first set here")));
    }
    global.init = values;
    global.init_span = Some(name.span());
    Ok(())
}

/// A number, or the address of a location: `-1`, `0x10`, `x`, `&x`, `x[1]`.
fn parse_value<'a>(lexer: &mut Lexer<'a>, test: &mut Test<'a>) -> Parsed<Value> {
    if lexer.eat_word("ATOMIC_INIT") {
        expect(lexer, "(")?;
        let value = parse_value(lexer, test)?;
        expect(lexer, ")")?;
        return Ok(value);
    }
    if let Some(value) = parse_integer(lexer)? {
        return Ok(value);
    }
    lexer.eat("&");
    let token = lexer.next();
    if token.kind != Kind::Ident {
        return Err(expected(lexer, token, "a number or a location"));
    }
    let object = test.global(lexer.text(token), token.span());
    Ok(Value::pointer(object, parse_index(lexer, test, object)?.map_or(0, |(_, offset)| offset)))
}

/// A number with an optional sign, or `None` and nothing consumed.
pub(crate) fn parse_integer(lexer: &mut Lexer<'_>) -> Parsed<Option<Value>> {
    let negative = lexer.at("-");
    let token = if negative { lexer.peek_second() } else { lexer.peek() };
    if token.kind != Kind::Number {
        if negative {
            lexer.next();
            return Err(expected(lexer, token, "a number after `-`"));
        }
        return Ok(None);
    }
    if negative {
        lexer.next();
    }
    lexer.next();
    let Some(value) = number(lexer.text(token)) else { return Err(bad_number(lexer, token.span())) };
    Ok(Some(Value(if negative { value.wrapping_neg() } else { value })))
}

/// The error for a number token that is none.
pub(crate) fn bad_number(lexer: &Lexer<'_>, span: Span) -> Box<Diagnostic> {
    let message = format!("`{}` is not a number", lexer.slice(span));
    Box::new(Diagnostic::error(span, message).label("expected a decimal or `0x` number of at most 64 bits"))
}

/// `[1]` after a location, as index and byte offset.
pub(crate) fn parse_index(
    lexer: &mut Lexer<'_>,
    test: &Test<'_>,
    object: ObjectId,
) -> Parsed<Option<(u64, u32)>> {
    if !lexer.eat("[") {
        return Ok(None);
    }
    let token = lexer.next();
    let index = match number(lexer.text(token)) {
        Some(index) if token.kind == Kind::Number => index,
        _ => return Err(expected(lexer, token, "an element number")),
    };
    if !lexer.eat("]") {
        return Err(expected_next(lexer, "`]`"));
    }
    Ok(Some((index, test.element_offset(object, index, token.span())?)))
}
