//! External declarations, function definitions, and declarations in blocks.

use super::declarations::{Specifiers, Storage};
use super::declarators::{Declarator, Param};
use super::{Entity, FunctionContext, Parser, Res, fail, unsupported};
use crate::ast::{Block, Expr, ExprKind, FuncId, FunctionDef, Global, GlobalId, Init, Local, Stmt, StmtKind};
use crate::intern::Symbol;
use crate::token::{Keyword, Punct, TokenKind};
use crate::types::{QTy, Ty, TypeKind};
use fencepost_diag::{Diagnostic, Span};

impl Parser<'_> {
    pub(super) fn external_declaration(&mut self) -> Res<()> {
        match self.keyword() {
            Some(Keyword::StaticAssert) => return self.static_assert(),
            Some(Keyword::Asm | Keyword::Asm2 | Keyword::Asm3) => {
                let span = self.advance().span;
                self.warnings.push(Diagnostic::warning(span, "assembly outside a function is ignored"));
                self.skip_parentheses()?;
                self.expect(Punct::Semi, "after the assembly")?;
                return Ok(());
            }
            _ => {}
        }
        if self.pack_pragma()? {
            return Ok(());
        }
        if self.eat(Punct::Semi) {
            return Ok(());
        }
        let leading = self.attributes()?;
        let mut specifiers = self.specifiers()?;
        specifiers.attributes.merge(leading);
        self.check_specifiers(&specifiers)?;
        self.declares_internal = specifiers.storage == Storage::Static || specifiers.inline;
        if self.eat(Punct::Semi) {
            return Ok(());
        }
        let first = self.declarator(specifiers.ty, false)?;
        if let Some((_, at)) = &first.variable {
            return fail(*at, "the length of an array outside a function must be a constant");
        }
        let mut declarator = first;
        if declarator.params.as_ref().is_some_and(|params| params.iter().any(|p| p.untyped)) {
            self.untyped_parameters(&mut declarator)?;
        }
        if self.is(Punct::LBrace) && declarator.params.is_some() {
            return self.function_definition(&specifiers, declarator);
        }
        loop {
            self.declare_external(&specifiers, declarator)?;
            if !self.eat(Punct::Comma) {
                break;
            }
            declarator = self.declarator(specifiers.ty, false)?;
        }
        self.expect(Punct::Semi, "after the declaration")?;
        Ok(())
    }

    fn check_specifiers(&self, specifiers: &Specifiers) -> Res<()> {
        if specifiers.attributes.vector {
            return unsupported(specifiers.span, "a vector type", "use an array or single numbers");
        }
        Ok(())
    }

    /// An alignment that belongs to a name for a type would have to follow it into every struct.
    fn check_typedef_alignment(
        &mut self,
        specifiers: &Specifiers,
        declarator: &Declarator,
        span: Span,
    ) -> Res<()> {
        let asked = specifiers.attributes.align.max(declarator.attributes.align).unwrap_or(1);
        if asked > self.unit.types.align(declarator.ty.ty) && !self.is_foreign() {
            let hint = "put the alignment on the struct or the member";
            let warning = Diagnostic::warning(span, "the alignment of this typedef is ignored").hint(hint);
            self.warnings.push(warning);
        }
        Ok(())
    }

    /// Gives a declarator the type that its attributes choose.
    fn apply_mode(&self, specifiers: &Specifiers, declarator: &mut Declarator, span: Span) -> Res<()> {
        let Some(mode) = declarator.attributes.mode.or(specifiers.attributes.mode) else { return Ok(()) };
        match self.type_of_mode(declarator.ty, mode) {
            Some(ty) => declarator.ty = ty,
            None => {
                let hint = "use a type of the size that is meant";
                return unsupported(span, "this attribute `mode`", hint);
            }
        }
        Ok(())
    }

    fn check_declarator(&self, declarator: &Declarator, span: Span) -> Res<()> {
        if declarator.attributes.vector {
            return unsupported(span, "a vector type", "use an array or single numbers");
        }
        self.check_atomic(declarator.ty, span)
    }

    fn declare_external(&mut self, specifiers: &Specifiers, mut declarator: Declarator) -> Res<()> {
        let Some((name, span)) = declarator.name else { return Ok(()) };
        self.apply_mode(specifiers, &mut declarator, span)?;
        self.check_declarator(&declarator, span)?;
        if specifiers.storage == Storage::Typedef {
            self.check_typedef_alignment(specifiers, &declarator, span)?;
            let ty = match self.internal {
                true => declarator.ty,
                false => self.replacement(name, declarator.ty).unwrap_or(declarator.ty),
            };
            self.scopes.declare(name, Entity::Typedef(ty));
            return Ok(());
        }
        if self.unit.types.is_function(declarator.ty.ty) {
            self.declare_function(name, declarator.ty.ty, span)?;
            return Ok(());
        }
        if declarator.ty.ty == Ty::VOID {
            return fail(span, "a variable cannot have the type `void`");
        }
        let external = specifiers.storage == Storage::Extern && !self.is(Punct::Assign);
        let id = self.declare_global(name, declarator.ty, external, specifiers.thread_local, span)?;
        if self.eat(Punct::Assign) {
            self.global_initialiser(id, specifiers.auto_type)?;
        }
        self.check_complete(id, external)
    }

    fn check_complete(&mut self, id: GlobalId, external: bool) -> Res<()> {
        let global = &self.unit.globals[id.0 as usize];
        let (ty, span) = (global.ty, global.span);
        // A tentative array without a length has one element.
        if let (TypeKind::Array(of, None), false) = (self.unit.types.kind(ty.ty).clone(), external) {
            let completed = self.unit.types.array(of, Some(1));
            self.unit.globals[id.0 as usize].ty = QTy { ty: completed, ..ty };
        } else if self.unit.types.size(ty.ty).is_none() && !external {
            return fail(span, format!("a variable cannot have the incomplete type `{}`", self.show(ty)));
        }
        Ok(())
    }

    fn declare_global(
        &mut self,
        name: Symbol,
        ty: QTy,
        external: bool,
        thread_local: bool,
        span: Span,
    ) -> Res<GlobalId> {
        match self.scopes.lookup_here(name) {
            Entity::Global(id) => {
                self.check_redeclared(id, name, ty, span)?;
                let types = &self.unit.types;
                let global = &mut self.unit.globals[id.0 as usize];
                global.external &= external;
                if types.size(global.ty.ty).is_none() {
                    global.ty = ty;
                }
                Ok(id)
            }
            Entity::Unknown => {
                if let Some(id) = self.linked_global(name) {
                    self.scopes.declare(name, Entity::Global(id));
                    return self.declare_global(name, ty, external, thread_local, span);
                }
                if self.unit.types.linking && !self.is_internal() && self.linked.contains_key(&name) {
                    return fail(span, format!("`{}` is declared as something else before", self.name(name)));
                }
                let id = self.new_global(self.name(name), ty, external, thread_local, span);
                self.scopes.declare(name, Entity::Global(id));
                Ok(id)
            }
            _ => fail(span, format!("`{}` is declared as something else before", self.name(name))),
        }
    }

    fn check_redeclared(&self, id: GlobalId, name: Symbol, ty: QTy, span: Span) -> Res<()> {
        let old = &self.unit.globals[id.0 as usize];
        if self.unit.types.compatible(old.ty.ty, ty.ty) {
            return Ok(());
        }
        let related = old.span;
        Err(Box::new(
            Diagnostic::error(span, format!("`{}` is declared with another type", self.name(name)))
                .label(format!("`{}` here", self.show(ty)))
                .related(related, "declared before"),
        ))
    }

    /// What is declared here is for this file only; a declaration in a block is not, whatever the function around it is.
    fn is_internal(&self) -> bool {
        self.declares_internal && self.function.is_none()
    }

    /// The variable of that name that another file of the program has declared.
    fn linked_global(&self, name: Symbol) -> Option<GlobalId> {
        if !self.unit.types.linking || self.declares_internal {
            return None;
        }
        let text = self.interner.text(name);
        let known = |global: &Global| global.name == text && !global.internal;
        self.unit.globals.iter().position(known).map(|index| GlobalId(index as u32))
    }

    pub(crate) fn new_global(
        &mut self,
        name: String,
        ty: QTy,
        external: bool,
        thread_local: bool,
        span: Span,
    ) -> GlobalId {
        let id = GlobalId(self.unit.globals.len() as u32);
        let internal = self.is_internal();
        self.unit.globals.push(Global { name, ty, init: None, thread_local, external, internal, span });
        id
    }

    fn global_initialiser(&mut self, id: GlobalId, auto_type: bool) -> Res<()> {
        let (ty, span) = (self.unit.globals[id.0 as usize].ty, self.unit.globals[id.0 as usize].span);
        let (init, ty) = self.initialiser(ty, auto_type)?;
        self.check_static_init(&init)?;
        let global = &mut self.unit.globals[id.0 as usize];
        if global.init.is_some() {
            return fail(span, format!("`{}` is initialised twice", global.name));
        }
        global.ty = ty;
        global.init = Some(init);
        global.external = false;
        Ok(())
    }

    /// Static objects need constants.
    pub(super) fn check_static_init(&self, init: &Init) -> Res<()> {
        for item in &init.items {
            let expr = &item.value;
            if self.evaluate(expr).is_none() {
                return Err(Box::new(
                    Diagnostic::error(expr.span, "this initialiser is not a constant").hint(
                        "objects with static storage are initialised before the program runs; assign in main",
                    ),
                ));
            }
        }
        Ok(())
    }

    /// The function of that name, declared on the way.
    pub(crate) fn declare_function(&mut self, name: Symbol, ty: Ty, span: Span) -> Res<FuncId> {
        // A function has linkage: a declaration in a block means the same function as one outside.
        // One for this file only is not that of another file.
        let here = self.scopes.lookup_here(name);
        let other = self.is_internal() && self.unit.types.linking && here == Entity::Unknown;
        let known = self.linked.get(&name).filter(|_| !other).map(|id| Entity::Function(*id));
        match known.unwrap_or_else(|| self.scopes.lookup_here(name)) {
            Entity::Function(id) => {
                self.scopes.declare(name, Entity::Function(id));
                let old = &self.unit.functions[id.0 as usize];
                let same = self.unit.types.compatible(old.ty, ty);
                let empty = |ty| matches!(self.unit.types.kind(ty), TypeKind::Function { unknown: true, .. });
                if !same && self.internal {
                    return Ok(id);
                }
                if !same && self.implicit.remove(&id) {
                    let message = format!("`{}` was called as if it returned `int`", self.name(name));
                    let warning = Diagnostic::warning(span, message).hint("declare it before the call");
                    self.warnings.push(warning);
                    self.unit.functions[id.0 as usize].ty = ty;
                    return Ok(id);
                }
                if !same {
                    let related = old.span;
                    return Err(Box::new(
                        Diagnostic::error(
                            span,
                            format!("`{}` is declared with another type", self.name(name)),
                        )
                        .label(format!("`{}` here", self.show(ty)))
                        .related(related, format!("`{}` before", self.show(old.ty))),
                    ));
                }
                if empty(old.ty) {
                    self.unit.functions[id.0 as usize].ty = ty;
                }
                Ok(id)
            }
            Entity::Unknown if !self.is_internal() && self.linked_global(name).is_some() => {
                fail(span, format!("`{}` is declared as something else before", self.name(name)))
            }
            Entity::Unknown | Entity::Local(_) => {
                let id = FuncId(self.unit.functions.len() as u32);
                self.unit.functions.push(FunctionDef {
                    name: self.name(name),
                    ty,
                    params: Vec::new(),
                    locals: Vec::new(),
                    labels: Vec::new(),
                    label_values: Default::default(),
                    frame: None,
                    landings: Default::default(),
                    internal: self.is_internal(),
                    body: None,
                    refused: None,
                    used: None,
                    span,
                });
                self.linked.insert(name, id);
                if !self.is_internal() {
                    self.external.insert(name, id);
                }
                self.scopes.declare(name, Entity::Function(id));
                Ok(id)
            }
            _ => fail(span, format!("`{}` is declared as something else before", self.name(name))),
        }
    }

    fn function_definition(&mut self, specifiers: &Specifiers, declarator: Declarator) -> Res<()> {
        let Some((name, span)) = declarator.name else { return Ok(()) };
        let params = declarator.params.unwrap_or_default();
        let id = self.declare_function(name, declarator.ty.ty, span)?;
        self.unit.functions[id.0 as usize].internal |= self.declares_internal;
        if self.unit.functions[id.0 as usize].body.is_some() && self.internal {
            return self.skip_braces();
        }
        if self.unit.functions[id.0 as usize].body.is_some() {
            let first = self.unit.functions[id.0 as usize].span;
            return Err(Box::new(
                Diagnostic::error(span, format!("`{}` is defined twice", self.name(name)))
                    .label("again here")
                    .related(first, "defined here"),
            ));
        }
        if specifiers.storage == Storage::Typedef {
            return fail(specifiers.span, "a function definition cannot be a typedef");
        }
        let TypeKind::Function { result, .. } = self.unit.types.kind(declarator.ty.ty).clone() else {
            return fail(span, "expected a function");
        };
        if result.ty != Ty::VOID && self.unit.types.size(result.ty).is_none() {
            return fail(
                span,
                format!("a function cannot return the incomplete type `{}`", self.show(result)),
            );
        }
        self.unit.functions[id.0 as usize].span = span;
        self.unit.functions[id.0 as usize].ty = declarator.ty.ty;
        let (start, depth, scopes) = (self.at, self.depth, self.scopes.depth());
        let Err(error) = self.function_body(id, name, result, &params) else { return Ok(()) };
        // What is not modelled is no matter in a function that nobody calls, as most of those in headers.
        if self.missing.is_some() || !error.message.ends_with("is not supported") {
            return Err(error);
        }
        while self.scopes.depth() > scopes {
            self.scopes.leave();
        }
        (self.at, self.depth, self.function) = (start, depth, None);
        self.unit.functions[id.0 as usize].refused = Some(error);
        self.skip_braces()
    }

    /// Skips a body that nobody needs.
    fn skip_braces(&mut self) -> Res<()> {
        let open = self.expect(Punct::LBrace, "before the body")?;
        let mut depth = 1usize;
        while depth > 0 {
            let token = self.advance();
            match token.kind {
                TokenKind::Punct(Punct::LBrace) => depth += 1,
                TokenKind::Punct(Punct::RBrace) => depth -= 1,
                TokenKind::Eof => return fail(open, "this block is never closed"),
                _ => {}
            }
        }
        Ok(())
    }

    /// `#pragma pack(...)`, as the preprocessor passes it on.
    pub(super) fn pack_pragma(&mut self) -> Res<bool> {
        let token = self.peek();
        if token.kind != TokenKind::Ident || self.interner.text(token.symbol) != "__fp_pack" {
            return Ok(false);
        }
        self.at += 1;
        if !self.eat(Punct::LParen) {
            self.pack = None;
            return Ok(true);
        }
        let mut next = None;
        while !self.eat(Punct::RParen) {
            let token = self.advance();
            match token.kind {
                TokenKind::Ident if self.interner.text(token.symbol) == "push" => self.packs.push(self.pack),
                TokenKind::Ident if self.interner.text(token.symbol) == "pop" => {
                    next = Some(self.packs.pop().flatten());
                }
                TokenKind::Number => {
                    let value = crate::literal::integer(self.interner.text(token.symbol));
                    next = Some(value.map(|n| n.bits).filter(|n| n.is_power_of_two()));
                }
                TokenKind::Eof => return fail(token.span, "this pragma is never closed"),
                _ => {}
            }
        }
        self.pack = next.unwrap_or(if self.packs.is_empty() { None } else { self.pack });
        Ok(true)
    }

    fn function_body(&mut self, id: FuncId, name: Symbol, result: QTy, params: &[Param]) -> Res<()> {
        self.function = Some(FunctionContext {
            name,
            result,
            locals: Vec::new(),
            blocks: vec![Vec::new()],
            labels: Vec::new(),
            label_numbers: Default::default(),
            switches: Vec::new(),
            breakable: 0,
            loops: 0,
            variable_arrays: Vec::new(),
            constants: Vec::new(),
            label_values: Default::default(),
            frame: None,
            landings: Default::default(),
        });
        self.scopes.enter();
        let mut ids = Vec::new();
        for param in params {
            let at = param.name.map_or(self.last_span(), |(_, at)| at);
            if self.unit.types.size(param.ty.ty).is_none() {
                return fail(
                    at,
                    format!("a parameter cannot have the incomplete type `{}`", self.show(param.ty)),
                );
            }
            // A parameter without a name cannot be used, but it is passed.
            let name = param.name.map_or(String::new(), |(symbol, _)| self.name(symbol));
            let local = Local { name, ty: param.ty, span: at, initialised: true, heap: false };
            if let Some(local) = self.new_local(local) {
                ids.push(local);
                if let Some((symbol, _)) = param.name {
                    self.scopes.declare(symbol, Entity::Local(local));
                }
            }
        }
        self.at += 1;
        let mut stmts = Vec::new();
        while !self.is(Punct::RBrace) {
            let mark = self.mark();
            if let Err(error) = self.block_item(&mut stmts) {
                self.recover(&mark, error)?;
            }
        }
        let end = self.advance().span;
        self.scopes.leave();
        let Some(mut context) = self.function.take() else { return Ok(()) };
        let missed = |(label, defined, _): &&(_, bool, _)| !defined && !self.doubtful.contains(label);
        if let Some((label, _, at)) = context.labels.iter().find(missed) {
            return fail(*at, format!("there is no label `{}` in this function", self.name(*label)));
        }
        if let (labels, Some(object)) = &context.label_values {
            let bytes = self.unit.types.array(Ty::CHAR.into(), Some(labels.len() as u64));
            self.unit.globals[object.0 as usize].ty = QTy::plain(bytes);
        }
        let function = &mut self.unit.functions[id.0 as usize];
        function.label_values = std::mem::take(&mut context.label_values);
        function.frame = context.frame;
        function.landings = std::mem::take(&mut context.landings);
        function.params = ids;
        function.locals = context.locals;
        function.labels = context.labels.iter().map(|(name, _, _)| *name).collect();
        let locals = context.blocks.pop().unwrap_or_default();
        function.body = Some(Block { locals, stmts, end });
        Ok(())
    }

    /// A declaration in a block.
    pub(super) fn block_declaration(&mut self, stmts: &mut Vec<Stmt>) -> Res<()> {
        let specifiers = self.specifiers()?;
        self.check_specifiers(&specifiers)?;
        if self.eat(Punct::Semi) {
            return Ok(());
        }
        loop {
            let declarator = self.declarator(specifiers.ty, false)?;
            if self.is(Punct::LBrace) && declarator.params.is_some() {
                let span = declarator.name.map_or(specifiers.span, |(_, span)| span);
                return unsupported(
                    span,
                    "a function inside a function",
                    "move it out and pass what it uses",
                );
            }
            self.declare_in_block(&specifiers, declarator, stmts)?;
            if !self.eat(Punct::Comma) {
                break;
            }
        }
        self.expect(Punct::Semi, "after the declaration")?;
        Ok(())
    }

    fn declare_in_block(
        &mut self,
        specifiers: &Specifiers,
        mut declarator: Declarator,
        stmts: &mut Vec<Stmt>,
    ) -> Res<()> {
        let Some((name, span)) = declarator.name else { return Ok(()) };
        self.apply_mode(specifiers, &mut declarator, span)?;
        self.check_declarator(&declarator, span)?;
        let ty = declarator.ty;
        match specifiers.storage {
            Storage::Typedef => {
                self.check_typedef_alignment(specifiers, &declarator, span)?;
                self.scopes.declare(name, Entity::Typedef(ty));
                return Ok(());
            }
            _ if self.unit.types.is_function(ty.ty) => {
                self.declare_function(name, ty.ty, span)?;
                return Ok(());
            }
            Storage::Extern => {
                // The variable that is visible here, or else the one of that name that all files know.
                let text = self.interner.text(name);
                let known = |g: &Global| g.name == text && !g.internal;
                let id = match (self.scopes.lookup(name), self.unit.globals.iter().position(known)) {
                    (Entity::Global(id), _) if self.unit.globals[id.0 as usize].name == text => id,
                    (_, Some(index)) => GlobalId(index as u32),
                    _ => self.new_global(self.name(name), ty, true, specifiers.thread_local, span),
                };
                self.check_redeclared(id, name, ty, span)?;
                self.scopes.declare(name, Entity::Global(id));
                return Ok(());
            }
            Storage::Static => {
                let owner = self.function.as_ref().map(|f| f.name);
                let full = owner.map_or(String::new(), |f| format!("{}.", self.name(f))) + &self.name(name);
                let id = self.new_global(full, ty, false, specifiers.thread_local, span);
                self.scopes.declare(name, Entity::Global(id));
                if self.eat(Punct::Assign) {
                    self.global_initialiser(id, specifiers.auto_type)?;
                }
                return self.check_complete(id, false);
            }
            Storage::Automatic => {}
        }
        if ty.ty == Ty::LDOUBLE {
            return unsupported(span, "`long double`", "use `double`");
        }
        if let Some((length, at)) = declarator.variable {
            return self.declare_variable_array((name, span), ty, length, at, stmts);
        }
        if matches!(self.scopes.lookup_here(name), Entity::Local(_)) {
            return fail(span, format!("`{}` is declared twice in this block", self.name(name)));
        }
        self.declare_automatic(name, span, ty, specifiers.auto_type, stmts)?;
        match declarator.attributes.cleanup.or(specifiers.attributes.cleanup) {
            Some(function) => self.declare_cleanup(function, name, span, stmts),
            None => Ok(()),
        }
    }

    /// What `__attribute__((cleanup(function)))` does at the end of the block: `function(&variable)`.
    fn declare_cleanup(
        &mut self,
        function: Symbol,
        name: Symbol,
        span: Span,
        stmts: &mut Vec<Stmt>,
    ) -> Res<()> {
        let (Entity::Function(id), Entity::Local(local)) =
            (self.scopes.lookup(function), self.scopes.lookup(name))
        else {
            return fail(span, format!("`{}` is no function that could clean up", self.name(function)));
        };
        self.unit.functions[id.0 as usize].used.get_or_insert(span);
        let callee = self.unit.functions[id.0 as usize].ty;
        let callee = Expr { kind: ExprKind::Function(id), ty: callee.into(), span };
        let ty = self.function.as_ref().map_or(Ty::INT.into(), |f| f.locals[local.0 as usize].ty);
        let address = self.address_of(Expr { kind: ExprKind::Local(local), ty, span }, span)?;
        let call = self.call(callee, vec![address], span)?;
        let call = self.discarded(call)?;
        stmts.push(Stmt { kind: StmtKind::Cleanup(call), span });
        Ok(())
    }

    fn declare_automatic(
        &mut self,
        name: Symbol,
        span: Span,
        ty: QTy,
        auto_type: bool,
        stmts: &mut Vec<Stmt>,
    ) -> Res<()> {
        let local =
            Local { name: self.name(name), ty, span, initialised: self.is(Punct::Assign), heap: false };
        let Some(id) = self.new_local(local) else { return Ok(()) };
        // `__auto_type x = x;` means an outer x; any other declaration is in scope in its own initialiser.
        if !auto_type {
            self.scopes.declare(name, Entity::Local(id));
        }
        let init = if self.eat(Punct::Assign) {
            let (init, ty) = self.initialiser(ty, auto_type)?;
            if let Some(function) = self.function.as_mut() {
                function.locals[id.0 as usize].ty = ty;
            }
            Some(init)
        } else {
            None
        };
        if auto_type {
            self.scopes.declare(name, Entity::Local(id));
        }
        self.note_constant(id, ty, init.as_ref());
        let ty = self.function.as_ref().map_or(ty, |f| f.locals[id.0 as usize].ty);
        if self.unit.types.size(ty.ty).is_none() {
            return fail(span, format!("a variable cannot have the incomplete type `{}`", self.show(ty)));
        }
        let span = span.to(self.last_span());
        stmts.push(Stmt { kind: StmtKind::Declare(id, init), span });
        Ok(())
    }
}
