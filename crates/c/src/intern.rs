//! Interned strings: identifiers, numbers and literals are 32-bit symbols, compared and looked up as numbers.

use rustc_hash::FxHashMap;
use std::rc::Rc;

/// An interned string.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Symbol(pub u32);

/// The table of strings. Keywords come first, so that a symbol below [`crate::token::KEYWORDS`]`.len()` is a keyword.
#[derive(Default)]
pub struct Interner {
    map: FxHashMap<Rc<str>, Symbol>,
    strings: Vec<Rc<str>>,
}

impl Interner {
    /// A table that holds these words, with symbols from 0 in their order.
    pub fn with_words(words: &[&str]) -> Interner {
        let mut interner = Interner::default();
        interner.map.reserve(words.len() * 4);
        for word in words {
            interner.intern(word);
        }
        interner
    }

    /// The symbol of a string.
    pub fn intern(&mut self, text: &str) -> Symbol {
        if let Some(&symbol) = self.map.get(text) {
            return symbol;
        }
        let symbol = Symbol(self.strings.len() as u32);
        let shared: Rc<str> = text.into();
        self.strings.push(shared.clone());
        self.map.insert(shared, symbol);
        symbol
    }

    /// The symbol of a string, if it has one.
    pub fn find(&self, text: &str) -> Option<Symbol> {
        self.map.get(text).copied()
    }

    /// The string of a symbol.
    pub fn text(&self, symbol: Symbol) -> &str {
        &self.strings[symbol.0 as usize]
    }

    /// The string of a symbol, to keep while the table changes.
    pub fn shared(&self, symbol: Symbol) -> Rc<str> {
        self.strings[symbol.0 as usize].clone()
    }
}
