//! Recursive descent over the preprocessed tokens, with typing on the way: C cannot be parsed without knowing which
//! names are types, and `sizeof`, `typeof` and `_Generic` need the types of expressions, so the tree comes out typed.
//!
//! Nesting is bounded by [`MAX_DEPTH`]: input that is nested deeper is an error, never a stack overflow. The first
//! error ends the parse.

mod arrays;
mod assembly;
mod attributes;
mod declarations;
mod declarators;
mod expressions;
mod externals;
mod records;
mod recovery;
mod scope;
mod statements;

use crate::ast::{Expr, ExprKind, FuncId, Local, LocalId, Unit};
use crate::intern::{Interner, Symbol};
use crate::pp::end_of_input;
use crate::target::Target;
use crate::token::{Keyword, Punct, Token, TokenKind};
use crate::types::{QTy, Ty};
use fencepost_diag::{Diagnostic, Span};
pub use scope::{Entity, Scopes};

/// How deep expressions, statements, declarators and initialisers may nest.
pub const MAX_DEPTH: u32 = 200;

/// The result of a parsing step. The error is boxed because it is large and rare.
pub type Res<T> = Result<T, Box<Diagnostic>>;

/// An error at a place.
pub fn fail<T>(span: Span, message: impl Into<String>) -> Res<T> {
    Err(Box::new(Diagnostic::error(span, message)))
}

/// `1 argument`, `2 arguments`.
pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// An error about a construct that is valid C but not modelled here.
pub fn unsupported<T>(span: Span, what: impl std::fmt::Display, hint: impl Into<String>) -> Res<T> {
    Err(Box::new(
        Diagnostic::error(span, format!("{what} is not supported")).label("not modelled").hint(hint),
    ))
}

/// The parser's state.
pub struct Parser<'i> {
    tokens: Vec<Token>,
    at: usize,
    /// Strings of the tokens.
    pub interner: &'i mut Interner,
    /// What has been parsed.
    pub unit: Unit,
    /// Names in scope.
    pub scopes: Scopes,
    /// The function whose body is being parsed.
    pub function: Option<FunctionContext>,
    /// Warnings so far.
    pub warnings: Vec<Diagnostic>,
    /// String literals by content, so that equal ones share an object.
    pub strings: rustc_hash::FxHashMap<Vec<u8>, crate::ast::GlobalId>,
    /// All functions by name, whatever scope declared them.
    pub linked: rustc_hash::FxHashMap<Symbol, FuncId>,
    /// The functions that all files know.
    pub external: rustc_hash::FxHashMap<Symbol, FuncId>,
    /// The name that nobody declared, if that is the error.
    pub missing: Option<(String, Span)>,
    /// The mistakes so far, if the parser went on behind them.
    errors: Vec<Diagnostic>,
    /// The name that nobody declared, if that is the first of them.
    first_missing: Option<(String, Span)>,
    /// Names that may have been declared where a mistake was.
    doubtful: rustc_hash::FxHashSet<Symbol>,
    /// How often it went on behind a mistake.
    recoveries: u32,
    /// The alignment of `#pragma pack`, and those that it was pushed upon.
    pub pack: Option<u64>,
    /// Earlier alignments.
    pub packs: Vec<Option<u64>>,
    /// A module of our own is parsed: what the program defines itself stays.
    pub internal: bool,
    /// Functions that were called before anybody declared them.
    pub implicit: rustc_hash::FxHashSet<FuncId>,
    /// The declaration that is read is for this file only.
    pub declares_internal: bool,
    /// Parameters are being read.
    pub in_parameters: u32,
    /// `__int128`, once it was met.
    pub int128: Option<Ty>,
    /// Condition variables may wake up without a signal.
    pub spurious: bool,
    /// The platform, for a word about assembly of another one.
    pub target: Target,
    /// Some mutex is initialised as a recursive or error-checking one.
    pub mutex_kinds: bool,
    /// Our opaque types that stand for those of another C library's headers, by name.
    pub foreign: rustc_hash::FxHashMap<Symbol, QTy>,
    depth: u32,
}

/// What is known while a function's body is parsed.
pub struct FunctionContext {
    /// Its name.
    pub name: Symbol,
    /// Its result type.
    pub result: QTy,
    /// Its variables so far.
    pub locals: Vec<Local>,
    /// Variables of the open blocks, outermost first.
    pub blocks: Vec<Vec<LocalId>>,
    /// Named labels: name, where it is defined if it is, where it is first used.
    pub labels: Vec<(Symbol, bool, Span)>,
    /// The numbers of those that have names.
    pub label_numbers: rustc_hash::FxHashMap<Symbol, crate::ast::LabelId>,
    /// Open `switch` statements.
    pub switches: Vec<statements::SwitchContext>,
    /// Open loops and switches, for `break`.
    pub breakable: u32,
    /// Open loops, for `continue`.
    pub loops: u32,
    /// Arrays of variable length: the pointer, and the variable that has the size.
    pub variable_arrays: Vec<(LocalId, LocalId)>,
    /// Variables that are `const` and known.
    pub constants: Vec<(LocalId, u64)>,
    /// The labels whose addresses are taken, and the object whose bytes stand for them.
    pub label_values: (Vec<crate::ast::LabelId>, Option<crate::ast::GlobalId>),
    /// The variable that has the memory of `alloca`.
    pub frame: Option<LocalId>,
    /// Where its calls of `setjmp` return once more, and the variable that stands for the running call of the function.
    pub landings: (Vec<crate::ast::LabelId>, Option<LocalId>),
}

impl<'i> Parser<'i> {
    /// A parser without input.
    pub fn new(interner: &'i mut Interner) -> Parser<'i> {
        Parser {
            tokens: Vec::new(),
            at: 0,
            interner,
            unit: Unit::default(),
            scopes: Scopes::default(),
            function: None,
            warnings: Vec::new(),
            strings: Default::default(),
            linked: Default::default(),
            external: Default::default(),
            missing: None,
            errors: Vec::new(),
            first_missing: None,
            doubtful: Default::default(),
            recoveries: 0,
            pack: None,
            packs: Vec::new(),
            internal: false,
            implicit: Default::default(),
            declares_internal: false,
            in_parameters: 0,
            int128: None,
            spurious: false,
            target: Target::Generic,
            mutex_kinds: false,
            foreign: Default::default(),
            depth: 0,
        }
    }

    /// Begins another file of the same program: what has no linkage is forgotten.
    pub fn next_file(&mut self) {
        self.scopes = Scopes::default();
        self.unit.types.linking = true;
        let functions = &self.unit.functions;
        self.external.retain(|_, id| !functions[id.0 as usize].internal);
        self.linked = self.external.clone();
    }

    /// Whether a function of that name is declared or defined further on, outside of all braces.
    pub(crate) fn is_defined_later(&self, name: Symbol) -> bool {
        let mut depth = 0i32;
        let mut outside = false;
        for (i, token) in self.tokens.iter().enumerate() {
            depth += i32::from(token.is(Punct::LBrace)) - i32::from(token.is(Punct::RBrace));
            let found = token.kind == TokenKind::Ident && token.symbol == name;
            let called = self.tokens.get(i + 1).is_some_and(|t| t.is(Punct::LParen));
            outside |= depth == 0 && found && called && i > self.at;
        }
        outside
    }

    /// Parses a list of external declarations into the unit; the error is all mistakes in it.
    pub fn parse(&mut self, tokens: Vec<Token>) -> Result<(), Vec<Diagnostic>> {
        self.tokens = tokens;
        self.at = 0;
        while self.peek().kind != TokenKind::Eof {
            let mark = self.mark();
            if let Err(error) = self.external_declaration()
                && let Err(last) = self.recover(&mark, error)
            {
                return self.mistakes(Some(last));
            }
        }
        self.mistakes(None)
    }

    fn peek(&self) -> Token {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Token {
        self.tokens.get(self.at + ahead).copied().unwrap_or_else(|| {
            let end = self.tokens.last().map_or(0, |t| t.span.end);
            end_of_input(Span { start: end, end })
        })
    }

    fn advance(&mut self) -> Token {
        let token = self.peek();
        self.at += 1;
        token
    }

    /// The span of the token before the next one.
    fn last_span(&self) -> Span {
        self.at.checked_sub(1).and_then(|i| self.tokens.get(i)).map_or(Span::default(), |t| t.span)
    }

    fn is(&self, punct: Punct) -> bool {
        self.peek().is(punct)
    }

    fn eat(&mut self, punct: Punct) -> bool {
        let found = self.is(punct);
        self.at += usize::from(found);
        found
    }

    fn keyword(&self) -> Option<Keyword> {
        let token = self.peek();
        if token.kind == TokenKind::Ident { Keyword::of(token.symbol) } else { None }
    }

    fn is_keyword(&self, keyword: Keyword) -> bool {
        self.keyword() == Some(keyword)
    }

    fn eat_keyword(&mut self, keyword: Keyword) -> bool {
        let found = self.is_keyword(keyword);
        self.at += usize::from(found);
        found
    }

    /// The next token must be this one.
    fn expect(&mut self, punct: Punct, context: &str) -> Res<Span> {
        let token = self.peek();
        if token.is(punct) {
            self.at += 1;
            return Ok(token.span);
        }
        let found = self.describe(&token);
        // A missing `;` or `)` belongs after the last token, not at the start of the next line.
        let after = self.last_span();
        let span = match punct {
            Punct::Semi | Punct::RParen | Punct::RBracket if after.end > 0 => after,
            _ => token.span,
        };
        Err(Box::new(
            Diagnostic::error(span, format!("expected `{}` {context}, found {found}", punct.text()))
                .label(format!("expected `{}`", punct.text())),
        ))
    }

    /// An identifier that is not a keyword.
    fn identifier(&mut self, what: &str) -> Res<(Symbol, Span)> {
        let token = self.peek();
        if token.kind == TokenKind::Ident && Keyword::of(token.symbol).is_none() {
            self.at += 1;
            return Ok((token.symbol, token.span));
        }
        fail(token.span, format!("expected {what}, found {}", self.describe(&token)))
    }

    fn describe(&self, token: &Token) -> String {
        match token.kind {
            TokenKind::Punct(p) => format!("`{}`", p.text()),
            TokenKind::Eof => "the end of the file".into(),
            _ => format!("`{}`", self.interner.text(token.symbol)),
        }
    }

    /// Runs one level deeper.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        if self.depth >= MAX_DEPTH {
            return Err(Box::new(
                Diagnostic::error(self.peek().span, "this is nested too deeply")
                    .hint(format!("at most {MAX_DEPTH} levels are read")),
            ));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// A name as text.
    pub fn name(&self, symbol: Symbol) -> String {
        self.interner.text(symbol).to_string()
    }

    /// A type as text, for messages.
    pub fn show(&self, ty: impl Into<QTy>) -> String {
        self.unit.types.show(ty.into(), &|symbol| self.interner.text(symbol).to_string())
    }

    /// A variable of the current function, in the innermost open block.
    pub fn new_local(&mut self, local: Local) -> Option<LocalId> {
        let function = self.function.as_mut()?;
        let id = LocalId(function.locals.len() as u32);
        function.locals.push(local);
        if let Some(block) = function.blocks.last_mut() {
            block.push(id);
        }
        Some(id)
    }

    /// A nameless variable for an intermediate struct.
    pub fn temporary(&mut self, ty: QTy, span: Span) -> Res<LocalId> {
        let local = Local { name: String::new(), ty, span, initialised: true, heap: false };
        match self.new_local(local) {
            Some(id) => Ok(id),
            None => fail(span, "this needs a function around it"),
        }
    }
}

/// An integer constant expression node.
pub fn int_expr(value: u64, ty: Ty, span: Span) -> Expr {
    Expr { kind: ExprKind::Int(value), ty: ty.into(), span }
}

/// What the typing rules, which live in another module, need of the token stream.
impl Parser<'_> {
    pub(crate) fn next_is(&self, punct: Punct) -> bool {
        self.is(punct)
    }

    pub(crate) fn next_kind(&self) -> TokenKind {
        self.peek().kind
    }

    pub(crate) fn next_span(&self) -> Span {
        self.peek().span
    }

    pub(crate) fn after_comma_is(&self, punct: Punct) -> bool {
        self.peek_at(1).is(punct)
    }

    pub(crate) fn take(&mut self) -> Token {
        self.advance()
    }

    pub(crate) fn take_if(&mut self, punct: Punct) -> bool {
        self.eat(punct)
    }

    pub(crate) fn take_name(&mut self, what: &str) -> Res<(Symbol, Span)> {
        self.identifier(what)
    }

    pub(crate) fn must(&mut self, punct: Punct, context: &str) -> Res<Span> {
        self.expect(punct, context)
    }

    pub(crate) fn end_of_last(&self) -> Span {
        self.last_span()
    }

    pub(crate) fn arguments_after_paren(&mut self) -> Res<Vec<Expr>> {
        self.call_arguments()
    }

    pub(crate) fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        self.nested(parse)
    }
}
