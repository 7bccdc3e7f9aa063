//! Programs that were preprocessed elsewhere bring the headers of another C library along. Their opaque types (mutexes,
//! condition variables, semaphores, ...) are replaced by ours, which the runtime modules work on; their static initialisers
//! are read for what they mean. Everything else of those headers is taken as it stands: the types with members that programs
//! use (`struct timespec`, `struct tm`) are laid out alike.
//!
//! The runtime modules are then files of their own, as the library of a real system is: their headers declare names that the
//! program has declared differently.

use crate::ast::{Expr, Init, InitItem};
use crate::headers;
use crate::intern::{Interner, Symbol};
use crate::parser::{Entity, Parser, Res, fail, int_expr};
use crate::pp::Preprocessor;
use crate::token::{Punct, Token, TokenKind};
use crate::types::{QTy, RecordId, Ty};
use fencepost_diag::Diagnostic;
use rustc_hash::FxHashMap;

/// The headers with opaque types.
const HEADERS: [&str; 3] = ["pthread.h", "semaphore.h", "threads.h"];

/// The opaque types of a header: their declarations and their names.
fn opaque_types(header: &str) -> Vec<(String, &'static str)> {
    let structure = |line: &'static str| {
        let (members, name) = line.strip_prefix("typedef struct {")?.rsplit_once("} ")?;
        Some((members, name.strip_suffix(';')?))
    };
    let found = |header| headers::find(header).unwrap_or("").lines().filter_map(structure);
    let declaration = |members: &str, name: &str| format!("typedef struct {{{members}}} {name};\n");
    if header != "threads.h" {
        return found(header).map(|(members, name)| (declaration(members, name), name)).collect();
    }
    let twins = [("mtx_t", "pthread_mutex_t"), ("cnd_t", "pthread_cond_t")];
    let twin = |(name, of)| {
        let (members, _) = found("pthread.h").find(|(_, known)| *known == of)?;
        Some((declaration(members, name), name))
    };
    twins.into_iter().filter_map(twin).collect()
}

/// The headers whose types the program declares itself.
fn declared_headers(tokens: &[Token], interner: &mut Interner) -> Vec<&'static str> {
    let mut names: FxHashMap<Symbol, &'static str> = FxHashMap::default();
    for header in HEADERS {
        names.extend(opaque_types(header).into_iter().map(|(_, name)| (interner.intern(name), header)));
    }
    let mut found = Vec::new();
    for window in tokens.windows(3) {
        let [before, name, after] = window else { continue };
        let declared = before.is(Punct::RBrace) || before.kind == TokenKind::Ident;
        if name.kind != TokenKind::Ident || !declared || !after.is(Punct::Semi) {
            continue;
        }
        if let Some(header) = names.get(&name.symbol)
            && !found.contains(header)
        {
            found.push(header);
        }
    }
    found
}

/// Declares our opaque types before a program that brings its own is parsed.
pub fn prepare(
    tokens: &[Token],
    parser: &mut Parser<'_>,
    preprocessor: &mut Preprocessor<'_>,
) -> Result<(), Vec<Diagnostic>> {
    for header in declared_headers(tokens, parser.interner) {
        if preprocessor.has_read(&format!("<{header}>")) {
            continue;
        }
        let (lines, names): (Vec<String>, Vec<&str>) = opaque_types(header).into_iter().unzip();
        std::mem::swap(parser.interner, &mut preprocessor.interner);
        let mut own = Vec::new();
        let read = preprocessor.run_module(&format!("<types of {header}>"), lines.concat(), &mut own);
        std::mem::swap(parser.interner, &mut preprocessor.interner);
        read.map_err(|error| vec![error])?;
        parser.parse(own)?;
        for name in names {
            let symbol = parser.interner.intern(name);
            if let Entity::Typedef(ty) = parser.scopes.lookup(symbol) {
                parser.foreign.insert(symbol, ty);
            }
        }
    }
    Ok(())
}

impl Parser<'_> {
    /// The program brings the headers of another C library.
    pub fn is_foreign(&self) -> bool {
        !self.foreign.is_empty()
    }

    /// Our type of that name, if the program's own is to be replaced: a structure or union is, a number is no matter.
    pub(crate) fn replacement(&self, name: Symbol, theirs: QTy) -> Option<QTy> {
        let ours = self.foreign.get(&name)?;
        self.unit.types.is_record(theirs.ty).then_some(*ours)
    }

    /// `{ { 0, 0, 0, 0, 1, ... } }` for one of our opaque types, as another C library's macros write it: what is there
    /// besides zeros is the kind of a mutex. A read-write lock that is initialised so is free.
    pub(crate) fn foreign_initialiser(&mut self, ty: Ty) -> Res<Option<Init>> {
        let Some((id, _)) = self.unit.types.record(ty) else { return Ok(None) };
        let replaced = self.foreign.iter().find(|(_, ours)| ours.ty == ty).map(|(name, _)| *name);
        let Some(name) = replaced.filter(|_| self.next_is(Punct::LBrace)) else { return Ok(None) };
        let open = self.next_span();
        let (mut depth, mut kind) = (0usize, 0);
        loop {
            let token = self.take();
            match token.kind {
                TokenKind::Punct(Punct::LBrace) => depth += 1,
                TokenKind::Punct(Punct::RBrace) => depth -= 1,
                TokenKind::Eof => return fail(open, "this initialiser is never closed"),
                TokenKind::Number => kind |= self.small_number(&token),
                // The names of the kinds are enumerators there.
                TokenKind::Ident => {
                    if let Entity::Constant(value, _) = self.scopes.lookup(token.symbol) {
                        kind |= value;
                    }
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        let span = open.to(self.end_of_last());
        let mut init = Init { items: Vec::new(), zero_rest: true };
        let mut set = |parser: &Self, member: &str, value: u64| {
            init.items.extend(parser.member_item(id, member, int_expr(value, Ty::INT, span)));
        };
        match self.interner.text(name) {
            "pthread_mutex_t" if matches!(kind, 1 | 2) => {
                set(self, "__kind", kind);
                self.mutex_kinds = true;
            }
            "pthread_rwlock_t" => set(self, "__cell", 2),
            _ => {}
        }
        Ok(Some(init))
    }

    fn small_number(&self, token: &Token) -> u64 {
        crate::literal::integer(self.interner.text(token.symbol)).map_or(0, |number| number.bits)
    }

    /// The initialiser of one member.
    fn member_item(&self, id: RecordId, member: &str, value: Expr) -> Option<InitItem> {
        let fields = &self.unit.types.records[id.0 as usize].fields;
        let named = |name: Option<Symbol>| name.is_some_and(|name| self.interner.text(name) == member);
        let field = fields.iter().find(|field| named(field.name))?;
        let value = Expr { ty: QTy::plain(field.ty.ty), ..value };
        Some(InitItem { offset: field.offset, ty: field.ty, bits: None, value })
    }
}
