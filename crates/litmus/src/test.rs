//! What is known of a test while it is read: shared locations, initial register values, threads.
//!
//! A location exists from its first mention on, wherever that is: in the initial state, in an instruction or in the
//! condition. Its width is settled last, by [`crate::widths`], when all accesses are known.

use crate::error::{MOST_ERRORS, Parsed};
use crate::lexer::{Kind, Lexer};
use crate::thread::ThreadBuilder;
use crate::types::Type;
use fencepost_diag::Diagnostic;
use fencepost_ir::{ObjectId, Span, Value, Width};

/// A shared location.
pub(crate) struct Global<'a> {
    pub(crate) name: &'a str,
    /// Where it is first mentioned.
    pub(crate) span: Span,
    /// The type that the initial state declares for it or for its elements.
    pub(crate) ty: Option<Type>,
    /// It was declared with brackets.
    pub(crate) is_array: bool,
    /// Initial values; one, or one per element. Empty stands for a single zero.
    pub(crate) init: Vec<Value>,
    /// Where it got its initial value.
    pub(crate) init_span: Option<Span>,
}

impl Global<'_> {
    /// The bits of the location, or of an element, as far as declarations tell.
    pub(crate) fn declared_bits(&self) -> Option<u32> {
        let double = self.ty.is_some_and(|ty| ty.is_double());
        if double { Some(128) } else { self.declared_width().map(|width| 8 * width.bytes()) }
    }

    /// The width of a cell as far as declarations tell.
    pub(crate) fn declared_width(&self) -> Option<Width> {
        match (self.ty, self.is_array) {
            (Some(ty), _) => Some(ty.width()),
            // Offsets into an array are computed while reading, so its element type cannot wait: it is `int`.
            (None, true) => Some(Width::W32),
            (None, false) => None,
        }
    }

    /// The number of cells.
    pub(crate) fn len(&self) -> usize {
        self.init.len().max(1)
    }
}

/// An initial register value, `0:r1=x`.
pub(crate) struct RegisterInit<'a> {
    /// The number of its thread; none for a symbolic register that every thread has, `%x0=x`.
    pub(crate) thread: Option<u32>,
    pub(crate) register: &'a str,
    pub(crate) span: Span,
    pub(crate) value: Value,
    /// It was declared with a type of 64 bits: all of them are shown.
    pub(crate) is_wide: bool,
}

/// A test under construction.
pub(crate) struct Test<'a> {
    pub(crate) globals: Vec<Global<'a>>,
    pub(crate) register_inits: Vec<RegisterInit<'a>>,
    pub(crate) threads: Vec<ThreadBuilder<'a>>,
    pub(crate) errors: Vec<Diagnostic>,
    /// The bits of each location, or of its elements, once they are settled.
    pub(crate) bits: Vec<u32>,
    /// It uses what only the Linux kernel has.
    pub(crate) is_kernel: bool,
}

impl<'a> Test<'a> {
    pub(crate) fn new() -> Test<'a> {
        Test {
            globals: Vec::new(),
            register_inits: Vec::new(),
            threads: Vec::new(),
            errors: Vec::new(),
            bits: Vec::new(),
            is_kernel: false,
        }
    }

    /// The location of that name; new if it was not mentioned before.
    pub(crate) fn global(&mut self, name: &'a str, span: Span) -> ObjectId {
        if let Some(id) = self.find_global(name) {
            return id;
        }
        let init = Vec::new();
        self.globals.push(Global { name, span, ty: None, is_array: false, init, init_span: None });
        ObjectId(self.globals.len() as u32 - 1)
    }

    /// The location of that name, if it was mentioned before.
    pub(crate) fn find_global(&self, name: &str) -> Option<ObjectId> {
        self.globals.iter().position(|g| g.name == name).map(|i| ObjectId(i as u32))
    }

    /// The byte offset of an element of a location.
    pub(crate) fn element_offset(&self, object: ObjectId, index: u64, span: Span) -> Parsed<u32> {
        let global = &self.globals[object.0 as usize];
        if index >= global.len() as u64 {
            let message = format!("`{}` has no element {index}", global.name);
            let label = match (global.is_array, global.len()) {
                (false, _) => "not declared as an array".to_string(),
                (true, 1) => "the array has 1 element".to_string(),
                (true, n) => format!("the array has {n} elements, counted from 0"),
            };
            return Err(Box::new(
                Diagnostic::error(span, message).label(label).related(global.span, "declared here").hint(
                    format!("an array is declared in the initial state, as in `int {}[4];`", global.name),
                ),
            ));
        }
        Ok(index as u32 * global.declared_bits().map_or(4, |bits| bits / 8))
    }

    /// Records a mistake; the reader goes on.
    pub(crate) fn report(&mut self, error: Diagnostic) {
        if self.errors.len() < MOST_ERRORS {
            self.errors.push(error);
        }
    }

    /// True when there is no point in reading on.
    pub(crate) fn has_too_many_errors(&self) -> bool {
        self.errors.len() >= MOST_ERRORS
    }

    /// The index of the thread with that number.
    pub(crate) fn thread_index(&self, number: u32) -> Option<usize> {
        self.threads.iter().position(|t| t.number == number)
    }

    /// The error for a thread number that no thread has.
    pub(crate) fn no_such_thread(&self, number: u32, span: Span) -> Box<Diagnostic> {
        let error = Diagnostic::error(span, format!("there is no thread {number}")).label("no such thread");
        Box::new(match (self.threads.first(), self.threads.last()) {
            (Some(first), Some(last)) => {
                error.hint(format!("the threads of this test are P{} to P{}", first.number, last.number))
            }
            _ => error.hint("this test has no threads"),
        })
    }
}

/// The thread number in `P12` or `12`.
pub(crate) fn thread_number(text: &str) -> Option<u32> {
    let digits = text.strip_prefix(['P', 'p']).unwrap_or(text);
    if digits.is_empty() || digits.len() > 4 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

/// Skips to the end of an item, cell or statement after an error: up to, not including, one of these.
pub(crate) fn skip_to(lexer: &mut Lexer<'_>, error: &Diagnostic, stops: &[&str]) {
    // The token that surprised the parser may be the very end that is looked for.
    if error.span.end == lexer.position() && stops.contains(&lexer.slice(error.span)) {
        lexer.rewind(error.span.start);
    }
    loop {
        let token = lexer.peek();
        if matches!(token.kind, Kind::Eof | Kind::Unclosed) || stops.iter().any(|stop| lexer.at(stop)) {
            return;
        }
        lexer.next();
    }
}
