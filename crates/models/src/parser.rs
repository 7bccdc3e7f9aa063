//! Parser of the cat language: one token of look-ahead, precedence as in herd7.
//!
//! From loosest to tightest: `|`, `++`, `;`, `\`, `&`, then prefix `~` and the product `*`, then the postfix operators
//! `+ * ? ^-1`, then application. `*` is a product when an operand follows, else the closure. After a mistake the
//! parser goes on at the next word that can begin a statement, so several mistakes are reported at once. Nesting is
//! bounded, because a tree that is too deep would overflow the stack of everything that walks it.

mod expressions;

use crate::ast::{Binding, Condition, Expr, ExprKind, File, Name, Question, Role, Statement, Test};
use crate::lexer::{Keyword, Token, tokenize};
use fencepost_diag::{Diagnostic, Span};
use std::rc::Rc;

/// How deep expressions and statements may nest.
const MAX_DEPTH: usize = 120;
/// Further mistakes are not reported.
const MAX_ERRORS: usize = 20;

type Parsed<T> = Result<T, Box<Diagnostic>>;

/// Parses a file.
pub fn parse(text: &str) -> Result<File, Vec<Diagnostic>> {
    let (tokens, errors) = tokenize(text);
    let mut parser = Parser { text, tokens, at: 0, depth: 0, errors };
    let file = parser.file();
    if parser.errors.is_empty() { Ok(file) } else { Err(parser.errors) }
}

/// Parses one expression, for replacing a definition.
pub fn parse_expression(text: &str) -> Result<Expr, Vec<Diagnostic>> {
    let (tokens, errors) = tokenize(text);
    let mut parser = Parser { text, tokens, at: 0, depth: 0, errors };
    let result = parser.expression().and_then(|e| match parser.peek() {
        Token::End => Ok(e),
        _ => Err(parser.unexpected("the end of the expression")),
    });
    match result {
        Ok(e) if parser.errors.is_empty() => Ok(e),
        Ok(_) => Err(parser.errors),
        Err(error) => Err(parser.errors.into_iter().chain([*error]).collect()),
    }
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<(Token, Span)>,
    at: usize,
    depth: usize,
    errors: Vec<Diagnostic>,
}

impl Parser<'_> {
    fn peek(&self) -> Token {
        self.tokens[self.at].0
    }

    fn peek_second(&self) -> Token {
        self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    fn previous_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].1
    }

    fn advance(&mut self) -> Span {
        let span = self.span();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        span
    }

    fn slice(&self, span: Span) -> &str {
        &self.text[span.start as usize..span.end as usize]
    }

    fn is(&self, keyword: Keyword) -> bool {
        self.peek() == Token::Keyword(keyword)
    }

    fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.peek(), Token::Symbol(s) if s == symbol)
    }

    fn eat(&mut self, keyword: Keyword) -> bool {
        let found = self.is(keyword);
        if found {
            self.advance();
        }
        found
    }

    fn eat_symbol(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        if found {
            self.advance();
        }
        found
    }

    fn unexpected(&self, expected: &str) -> Box<Diagnostic> {
        let what = match self.peek() {
            Token::End => "the end of the file".to_string(),
            Token::Keyword(k) => format!("the keyword `{}`", k.text()),
            _ => format!("`{}`", self.slice(self.span())),
        };
        let error = Diagnostic::error(self.span(), format!("unexpected {what}"));
        Box::new(error.label(format!("expected {expected}")))
    }

    fn unsupported(&self, span: Span, what: &str, hint: &str) -> Box<Diagnostic> {
        let error = Diagnostic::error(span, format!("{what} is not supported"));
        Box::new(error.label("not part of the cat language that Fencepost reads").hint(hint))
    }

    fn expect(&mut self, keyword: Keyword) -> Parsed<Span> {
        match self.is(keyword) {
            true => Ok(self.advance()),
            false => Err(self.unexpected(&format!("`{}`", keyword.text()))),
        }
    }

    fn expect_symbol(&mut self, symbol: &str) -> Parsed<Span> {
        match self.is_symbol(symbol) {
            true => Ok(self.advance()),
            false => Err(self.unexpected(&format!("`{symbol}`"))),
        }
    }

    fn name(&mut self) -> Parsed<Name> {
        if self.peek() != Token::Name {
            return Err(self.unexpected("a name"));
        }
        let span = self.advance();
        Ok(Name { text: self.slice(span).to_string(), span })
    }

    fn string(&mut self) -> Parsed<(String, Span)> {
        if self.peek() != Token::Text {
            return Err(self.unexpected("a string in double quotes"));
        }
        let span = self.advance();
        let quoted = self.slice(span);
        Ok((quoted[1..quoted.len() - 1].to_string(), span))
    }

    /// Runs a rule one level deeper.
    fn nested<T>(&mut self, rule: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            let error = Diagnostic::error(self.span(), "this is nested too deeply");
            return Err(Box::new(error.label(format!("more than {MAX_DEPTH} levels"))));
        }
        self.depth += 1;
        let result = rule(self);
        self.depth -= 1;
        result
    }

    // Files and statements.

    fn file(&mut self) -> File {
        let mut file = File::default();
        if self.peek() == Token::Name {
            let span = self.advance();
            file.architecture = Some(self.slice(span).to_string());
        }
        if matches!(self.peek(), Token::Name | Token::Text) {
            let span = self.advance();
            file.title = Some(self.slice(span).trim_matches('"').to_string());
        }
        while self.peek() == Token::Name {
            let span = self.advance();
            match self.slice(span) {
                "withco" | "withoutco" | "withinit" | "withoutinit" => {}
                "catdep" => {
                    let hint = "dependencies are given, as `addr`, `data` and `ctrl`";
                    let error = self.unsupported(span, "a model that computes dependencies itself", hint);
                    self.errors.push(*error);
                }
                _ => {
                    let expected = "a statement such as `let`, `acyclic` or `include`";
                    let error = Diagnostic::error(span, format!("unexpected `{}`", self.slice(span)));
                    self.errors.push(error.label(format!("expected {expected}")));
                    self.recover(self.at);
                }
            }
        }
        while self.peek() != Token::End && self.errors.len() < MAX_ERRORS {
            let start = self.at;
            match self.statement() {
                Ok(statement) => file.statements.push(statement),
                Err(error) => {
                    self.errors.push(*error);
                    self.depth = 0;
                    self.recover(start);
                }
            }
        }
        file
    }

    /// Skips to the next token that can begin a statement, at least one token after `start`.
    fn recover(&mut self, start: usize) {
        if self.at == start || self.is(Keyword::End) {
            self.advance();
        }
        use Keyword::*;
        while !matches!(
            self.peek(),
            Token::End
                | Token::Keyword(
                    Let | Acyclic
                        | Irreflexive
                        | Empty
                        | Flag
                        | Include
                        | Show
                        | Unshow
                        | Procedure
                        | Call
                        | UndefinedUnless
                        | Forall
                        | Enum
                )
        ) {
            self.advance();
        }
    }

    fn statements_until(&mut self, ends: &[Keyword]) -> Parsed<Vec<Statement>> {
        let mut statements = Vec::new();
        while !ends.iter().any(|&k| self.is(k)) {
            if self.peek() == Token::End {
                return Err(self.unexpected("`end`"));
            }
            statements.push(self.nested(Self::statement)?);
        }
        Ok(statements)
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let Token::Keyword(keyword) = self.peek() else {
            return match self.is_symbol("~") {
                true => self.test(Role::Axiom),
                false => Err(self.unexpected("a statement such as `let`, `acyclic` or `include`")),
            };
        };
        match keyword {
            Keyword::Let => self.let_statement(),
            Keyword::Acyclic | Keyword::Irreflexive | Keyword::Empty => self.test(Role::Axiom),
            Keyword::Flag => self.test(Role::Flag),
            Keyword::UndefinedUnless => self.test(Role::UndefinedUnless),
            Keyword::Include => {
                self.advance();
                let (file, span) = self.string()?;
                Ok(Statement::Include { file, span })
            }
            Keyword::Show | Keyword::Unshow => self.show(),
            Keyword::Debug => {
                self.advance();
                self.expression().map(|_| Statement::Nothing)
            }
            Keyword::Procedure => self.procedure(),
            Keyword::Call => {
                self.advance();
                let name = self.name()?;
                let argument = match self.peek() {
                    Token::Name => self.name_expression(),
                    _ => self.nested(Self::simple)?,
                };
                if self.eat(Keyword::As) {
                    self.name()?;
                }
                Ok(Statement::Call { name, argument })
            }
            Keyword::If => self.if_statement(),
            Keyword::With => {
                self.advance();
                let name = self.name()?;
                self.expect(Keyword::From)?;
                Ok(Statement::With { name, from: self.expression()? })
            }
            // What must hold is reported where it does not.
            Keyword::Assert => match self.test(Role::Flag)? {
                Statement::Test(test) => Ok(Statement::Test(Test { negated: !test.negated, ..test })),
                other => Ok(other),
            },
            other => {
                let error = self.unsupported_statement(other);
                // What these enclose would only bring more messages.
                while matches!(other, Keyword::Forall | Keyword::Match)
                    && !self.is(Keyword::End)
                    && self.peek() != Token::End
                {
                    self.advance();
                }
                Err(error)
            }
        }
    }

    fn unsupported_statement(&self, keyword: Keyword) -> Box<Diagnostic> {
        let hint = match keyword {
            Keyword::Enum | Keyword::Instructions | Keyword::Default => "bell files are not read",
            Keyword::Forall => "write one check that covers all cases",
            Keyword::Match => "enumerations are not read",
            _ => return self.unexpected("a statement such as `let`, `acyclic` or `include`"),
        };
        self.unsupported(self.span(), &format!("`{}`", keyword.text()), hint)
    }

    fn let_statement(&mut self) -> Parsed<Statement> {
        self.advance();
        let recursive = self.eat(Keyword::Rec);
        let bindings = self.bindings()?;
        if self.is(Keyword::When) {
            let hint = "state the condition as an axiom of its own";
            return Err(self.unsupported(self.span(), "`when`", hint));
        }
        self.eat(Keyword::In);
        Ok(Statement::Let { recursive, bindings })
    }

    fn test(&mut self, role: Role) -> Parsed<Statement> {
        let start = self.span();
        if role != Role::Axiom {
            self.advance();
        }
        let negated = self.eat_symbol("~");
        let question = match self.peek() {
            Token::Keyword(Keyword::Acyclic) => Question::Acyclic,
            Token::Keyword(Keyword::Irreflexive) => Question::Irreflexive,
            Token::Keyword(Keyword::Empty) => Question::Empty,
            _ => return Err(self.unexpected("`acyclic`, `irreflexive` or `empty`")),
        };
        self.advance();
        let expr = self.expression()?;
        let name = if self.eat(Keyword::As) { Some(self.name()?) } else { None };
        let span = start.to(self.previous_span());
        Ok(Statement::Test(Test { role, negated, question, expr, name, span }))
    }

    fn show(&mut self) -> Parsed<Statement> {
        self.advance();
        loop {
            self.nested(|p| p.operators(0))?;
            if self.eat(Keyword::As) {
                self.name()?;
            }
            if !self.eat_symbol(",") {
                return Ok(Statement::Nothing);
            }
        }
    }

    fn procedure(&mut self) -> Parsed<Statement> {
        self.advance();
        if self.is(Keyword::Rec) {
            return Err(self.unsupported(self.span(), "a recursive procedure", "write the checks out"));
        }
        let name = self.name()?;
        let parameters = self.parameters()?;
        self.expect_symbol("=")?;
        let body = self.statements_until(&[Keyword::End])?;
        self.expect(Keyword::End)?;
        Ok(Statement::Procedure { name, parameters, body: Rc::new(body) })
    }

    fn if_statement(&mut self) -> Parsed<Statement> {
        self.advance();
        let condition = self.condition()?;
        self.eat(Keyword::Then);
        let then = self.statements_until(&[Keyword::Else, Keyword::End])?;
        let otherwise = match self.eat(Keyword::Else) {
            true => self.statements_until(&[Keyword::End])?,
            false => Vec::new(),
        };
        self.expect(Keyword::End)?;
        Ok(Statement::If { condition, then, otherwise })
    }

    fn condition(&mut self) -> Parsed<Condition> {
        let mut left = self.condition_atom()?;
        loop {
            if self.eat_symbol("&&") {
                left = Condition::And(Box::new(left), Box::new(self.condition_atom()?));
            } else if self.eat_symbol("||") {
                let right = self.nested(Self::condition)?;
                return Ok(Condition::Or(Box::new(left), Box::new(right)));
            } else {
                return Ok(left);
            }
        }
    }

    fn condition_atom(&mut self) -> Parsed<Condition> {
        if self.eat(Keyword::Not) {
            return Ok(Condition::Not(Box::new(self.nested(Self::condition_atom)?)));
        }
        if self.eat_symbol("(") {
            let inner = self.nested(Self::condition)?;
            self.expect_symbol(")")?;
            return Ok(inner);
        }
        match self.peek() {
            Token::Text => Ok(Condition::Variant(self.string()?.0)),
            _ => {
                let hint = "only conditions on variants, such as `if \"vmsa\"`, are read";
                Err(self.unsupported(self.span(), "a condition on sets or relations", hint))
            }
        }
    }

    // Bindings.

    fn bindings(&mut self) -> Parsed<Vec<Binding>> {
        let mut bindings = vec![self.binding()?];
        while self.eat(Keyword::And) {
            bindings.push(self.binding()?);
        }
        Ok(bindings)
    }

    /// `(a, b) = e`, `a, b = e`, `f x y = e`, `f (x, y) = e`.
    fn binding(&mut self) -> Parsed<Binding> {
        if self.is_symbol("(") {
            let pattern = self.parameters()?;
            self.expect_symbol("=")?;
            return Ok(Binding { pattern, value: self.expression()? });
        }
        let mut pattern = vec![self.parameter()?];
        while self.eat_symbol(",") {
            pattern.push(self.parameter()?);
        }
        let mut curried = Vec::new();
        if pattern.len() == 1 {
            while self.peek() == Token::Name || self.is_symbol("_") || self.is_symbol("(") {
                curried.push(self.parameters()?);
            }
        }
        self.expect_symbol("=")?;
        let mut value = self.expression()?;
        // Each parameter is one level of the tree.
        if curried.len() + self.depth > MAX_DEPTH {
            return Err(Box::new(Diagnostic::error(value.span, "this function has too many parameters")));
        }
        for parameters in curried.into_iter().rev() {
            value = Expr { span: value.span, kind: ExprKind::Fun(parameters, Rc::new(value)) };
        }
        Ok(Binding { pattern, value })
    }

    fn parameter(&mut self) -> Parsed<Option<Name>> {
        if self.eat_symbol("_") { Ok(None) } else { self.name().map(Some) }
    }

    fn parameters(&mut self) -> Parsed<Vec<Option<Name>>> {
        if !self.eat_symbol("(") {
            return Ok(vec![self.parameter()?]);
        }
        let mut parameters = Vec::new();
        while !self.is_symbol(")") {
            parameters.push(self.parameter()?);
            if !self.eat_symbol(",") {
                break;
            }
        }
        self.expect_symbol(")")?;
        Ok(parameters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tree with all brackets.
    fn shown(e: &Expr) -> String {
        match &e.kind {
            ExprKind::Name(n) => n.clone(),
            ExprKind::Empty => "0".into(),
            ExprKind::Universe => "_".into(),
            ExprKind::Binary(op, list) => {
                format!("({})", list.iter().map(shown).collect::<Vec<_>>().join(op.text()))
            }
            ExprKind::Unary(op, e) => format!("{}({})", op.text(), shown(e)),
            ExprKind::Tuple(list) => format!("<{}>", list.iter().map(shown).collect::<Vec<_>>().join(",")),
            ExprKind::Apply(f, x) => format!("{}@{}", shown(f), shown(x)),
            other => format!("{other:?}"),
        }
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let e = parse_expression(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        assert_eq!(shown(&e), expected);
    }

    #[test]
    fn precedence_is_that_of_herd() {
        check("a | b ; c", "(a|(b;c))");
        check("a ; b \\ c & d", "(a;(b\\(c&d)))");
        check("a \\ b \\ c", "(a\\b\\c)");
        check("W * R & po", "((W*R)&po)");
        check("hb*;[W]", "(*(hb);[ ](W))");
        check("(hb*)", "*(hb)");
        check("~a & b", "(~(a)&b)");
        check("rf^-1;co", "(^-1(rf);co)");
        check("f (a,b) ; domain rf+", "(f@<a,b>;+(domain@rf))");
        check("f x y", "f@x@y");
        check("a*~b", "(a*~(b))");
    }

    #[test]
    fn a_closure_before_a_negated_check_is_not_a_product() {
        let file = parse("let a = po* ~empty a acyclic a* as x").expect("parses");
        assert_eq!(file.statements.len(), 3);
    }

    #[test]
    fn several_mistakes_are_reported_at_once() {
        let errors = parse("let = po\nlet b = (po\nlet c = rf\nacyclic | c").expect_err("broken");
        assert_eq!(errors.len(), 3, "{errors:?}");
    }

    #[test]
    fn deep_nesting_is_an_error() {
        for text in ["(".repeat(5000), "~".repeat(5000), format!("po{}", "+".repeat(5000))] {
            assert!(parse(&format!("let a = {text}")).is_err());
        }
        let wide = vec!["po"; 5000].join("|");
        assert!(parse(&format!("let a = {wide}")).is_ok());
    }
}
