//! From the typed tree to the IR.
//!
//! Registers hold C values extended to 64 bits as their type says: an `int` is sign-extended, an `unsigned` zero-extended,
//! a `float` is its bits. Only functions that can be reached from `main` are lowered, so unused code may contain what is
//! not modelled.
//!
//! Calling convention: a struct argument is passed as a pointer that the callee copies from at once; a struct result is
//! written through a hidden first parameter.

mod assertion;
mod assign;
mod atomics;
mod builder;
mod calls;
mod escape;
mod expr;
mod init;
mod jumps;
mod library;
mod memory;
mod places;
mod specialise;
mod stmt;
mod threads;
mod wide;

use crate::ast::{Block, Expr, FuncId, FunctionDef, GlobalId, LabelId, LocalId, Unit};
use crate::layout::TypeCell;
use crate::parser::{Res, fail, unsupported};
use crate::types::{QTy, Ty, TypeKind};
pub use builder::forgotten;
use builder::{Builder, Target};
pub use escape::Storage;
use fencepost_diag::{Diagnostic, Span};
use fencepost_ir::{
    Cell, Extend, Function, FunctionId, Instr, Object, ObjectId, Operand, Program, Property, Reg, Thread,
    Value, Width,
};
use rustc_hash::FxHashMap;
use specialise::{Fact, Wish, Wishes};
use std::rc::Rc;

pub use library::nondet_type;
pub use threads::shares_joins;

/// Lowers the program that `main` runs.
pub fn lower(unit: &Unit, name: &str) -> Result<Program, Vec<Diagnostic>> {
    let mut lowerer = Lowerer::new(unit);
    if let Some(refused) = unit.functions.iter().find(|f| f.name == "main").and_then(|f| f.refused.clone()) {
        return Err(vec![*refused]);
    }
    let Some(main) = unit.functions.iter().position(|f| f.name == "main" && f.body.is_some()) else {
        let error = Diagnostic::error(Span::default(), "there is no function `main`")
            .hint("the program starts in `int main(void)`");
        return Err(vec![error]);
    };
    if let TypeKind::Function { result, .. } = unit.types.kind(unit.functions[main].ty)
        && !unit.types.is_integer(result.ty)
        && result.ty != Ty::VOID
    {
        let error = Diagnostic::error(unit.functions[main].span, "`main` must return `int`");
        return Err(vec![error]);
    }
    let function = lowerer.function_id(FuncId(main as u32));
    let mut errors = Vec::new();
    // Functions are found while others are lowered, and in the initialisers of globals.
    loop {
        if let Err(error) = lowerer.globals() {
            errors.push(*error);
        }
        if lowerer.functions.len() == lowerer.order.len() {
            break;
        }
        let (id, facts) = lowerer.order[lowerer.functions.len()].clone();
        match lowerer.lower_function(id, &facts) {
            Ok(done) => lowerer.functions.push(done),
            Err(error) => {
                errors.push(*error);
                lowerer.functions.push(Function::default());
            }
        }
    }
    let args = lowerer.main_arguments(main);
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(Program {
        name: name.to_string(),
        objects: lowerer.objects,
        functions: lowerer.functions,
        threads: vec![Thread { name: "main".into(), function, args }],
        property: Property::Assertions,
        ..Program::default()
    })
}

/// What is known of the whole program.
struct Lowerer<'u> {
    unit: &'u Unit,
    functions: Vec<Function>,
    /// Source functions by their number in the IR, with what is known of their arguments.
    order: Vec<(FuncId, Vec<Fact>)>,
    numbers: FxHashMap<(FuncId, Vec<Fact>), FunctionId>,
    wishes: Wishes,
    jumps: jumps::Jumps,
    objects: Vec<Object>,
    /// The object of each global; strings get theirs when they are used.
    global_objects: Vec<Option<ObjectId>>,
    /// The globals whose cells are known.
    filled: Vec<bool>,
    features: library::Features,
}

/// The blocks that are open at a place, and what leaving each of them evaluates.
#[derive(Clone)]
struct Scope {
    chain: Vec<usize>,
    cleanups: Vec<Vec<Rc<Expr>>>,
}

/// What is known while a function is lowered.
struct Body<'l, 'u> {
    program: &'l mut Lowerer<'u>,
    unit: &'u Unit,
    def: &'u FunctionDef,
    b: Builder,
    storage: Vec<Storage>,
    /// The register of each variable: its value, or the pointer to its object.
    registers: Vec<Option<Reg>>,
    /// The instruction that makes each object.
    made_at: Vec<Option<usize>>,
    /// Open blocks, as indices into `blocks`.
    chain: Vec<usize>,
    /// The objects of each block.
    blocks: Vec<Vec<LocalId>>,
    /// The arrays of variable length of each block.
    arrays: Vec<Vec<LocalId>>,
    /// What leaving each block evaluates, as far as its declarations have been reached.
    cleanups: Vec<Vec<Rc<Expr>>>,
    /// Place and open blocks of each label.
    labels: Vec<Option<(Target, Scope)>>,
    /// Jumps to labels: where they stand, the open blocks there, and the label.
    jumps: Vec<(Target, Scope, LabelId)>,
    /// Targets of `break`, with the number of open blocks there.
    breaks: Vec<(Target, usize)>,
    /// Targets of `continue`.
    continues: Vec<(Target, usize)>,
    /// Where a struct result goes.
    result_address: Option<Reg>,
    /// The register that says which threads cannot be joined any more.
    gone: Option<Reg>,
    /// Points to the arguments that the function does not name.
    varargs: Option<Reg>,
    /// What is known of the parameters.
    facts: Vec<Fact>,
    /// The whole body is one atomic section (`__VERIFIER_atomic_*`).
    atomic_section: bool,
}

impl<'u> Lowerer<'u> {
    fn new(unit: &'u Unit) -> Lowerer<'u> {
        let mut lowerer = Lowerer {
            unit,
            functions: Vec::new(),
            order: Vec::new(),
            numbers: FxHashMap::default(),
            wishes: Wishes::of(unit),
            jumps: jumps::Jumps::of(unit),
            objects: Vec::new(),
            global_objects: vec![None; unit.globals.len()],
            filled: vec![false; unit.globals.len()],
            features: library::Features::of(unit),
        };
        for (index, global) in unit.globals.iter().enumerate() {
            if !global.external && !global.name.starts_with('"') {
                lowerer.object_of(GlobalId(index as u32));
            }
        }
        lowerer
    }

    /// The IR function of a source function; it will be lowered.
    fn function_id(&mut self, id: FuncId) -> FunctionId {
        self.copy_for(id, Vec::new())
    }

    /// The copy of a source function for what is known of its arguments.
    fn copy_for(&mut self, id: FuncId, facts: Vec<Fact>) -> FunctionId {
        let key = (id, facts);
        if let Some(&number) = self.numbers.get(&key) {
            return number;
        }
        let number = FunctionId(self.order.len() as u32);
        self.numbers.insert(key.clone(), number);
        self.order.push(key);
        number
    }

    /// The object of a global; its cells are filled in at the end.
    fn object_of(&mut self, id: GlobalId) -> ObjectId {
        let slot = id.0 as usize;
        if let Some(object) = self.global_objects[slot] {
            return object;
        }
        let object = ObjectId(self.objects.len() as u32);
        let global = &self.unit.globals[slot];
        self.objects.push(Object {
            name: global.name.clone(),
            size: 0,
            cells: Vec::new(),
            span: global.span,
            constant: global.name.starts_with('"') || self.is_constant(global.ty),
        });
        self.global_objects[slot] = Some(object);
        object
    }

    /// Whether an object of the type must not be written: it, or what it is an array of, is `const`.
    fn is_constant(&self, mut ty: crate::types::QTy) -> bool {
        while let (false, Some((of, _))) =
            (ty.quals.has(crate::types::Quals::CONST), self.unit.types.element(ty.ty))
        {
            ty = of;
        }
        ty.quals.has(crate::types::Quals::CONST)
    }

    /// `argc` is 1 and `argv` has the program's name.
    fn main_arguments(&mut self, main: usize) -> Vec<Value> {
        let params = self.unit.functions[main].params.len();
        if params == 0 {
            return Vec::new();
        }
        let span = self.unit.functions[main].span;
        let text: Vec<Value> = b"program\0".iter().map(|b| Value(u64::from(*b))).collect();
        let name = ObjectId(self.objects.len() as u32);
        self.objects.push(Object::array("argv[0]", Width::W8, &text, span));
        let argv = ObjectId(self.objects.len() as u32);
        let entries = [Value::pointer(name, 0), Value::ZERO];
        self.objects.push(Object::array("argv", Width::W64, &entries, span));
        let mut args = vec![Value(1), Value::pointer(argv, 0)];
        args.resize(params, Value::ZERO);
        args
    }

    fn lower_function(&mut self, id: FuncId, facts: &[Fact]) -> Res<Function> {
        let def = &self.unit.functions[id.0 as usize];
        let Some(block) = &def.body else {
            return fail(def.used.unwrap_or(def.span), format!("`{}` has no body", def.name));
        };
        let mut storage = escape::analyse(self.unit, def);
        loop {
            let mut function = self.lower_body(def, block, storage.clone(), facts)?;
            // A scalar that may be read before it is written must be seen as uninitialised memory.
            let suspects = super::uninit::suspects(def, &function.1, &storage, &function.0);
            if suspects.is_empty() {
                builder::remove_marks(&mut function.0);
                return Ok(function.0);
            }
            for local in suspects {
                storage[local.0 as usize] = Storage::Private;
            }
        }
    }

    fn lower_body(
        &mut self,
        def: &'u FunctionDef,
        block: &'u Block,
        storage: Vec<Storage>,
        facts: &[Fact],
    ) -> Res<(Function, Vec<Option<Reg>>)> {
        let unit = self.unit;
        let mut body = Body {
            program: self,
            unit,
            def,
            b: Builder::new(def.name.clone(), def.span),
            registers: vec![None; storage.len()],
            made_at: vec![None; storage.len()],
            storage,
            chain: Vec::new(),
            blocks: Vec::new(),
            arrays: Vec::new(),
            cleanups: Vec::new(),
            labels: (0..def.labels.len()).map(|_| None).collect(),
            jumps: Vec::new(),
            breaks: Vec::new(),
            continues: Vec::new(),
            result_address: None,
            gone: None,
            varargs: None,
            facts: facts.to_vec(),
            atomic_section: def.name.starts_with("__VERIFIER_atomic_"),
        };
        body.prologue()?;
        body.block(block)?;
        body.epilogue(block.end)?;
        let registers = std::mem::take(&mut body.registers);
        Ok((body.b.finish(), registers))
    }
}

impl Storage {
    /// The variable is an object in memory.
    fn is_object(self) -> bool {
        self >= Storage::Private
    }
}

impl Body<'_, '_> {
    fn result_type(&self) -> QTy {
        match self.unit.types.kind(self.def.ty) {
            TypeKind::Function { result, .. } => *result,
            _ => Ty::VOID.into(),
        }
    }

    /// Parameters arrive in the first registers; those that are objects are copied to memory when their block is
    /// entered.
    fn prologue(&mut self) -> Res<()> {
        if self.unit.types.is_record(self.result_type().ty) {
            self.result_address = Some(self.b.param("result"));
        }
        for &param in &self.def.params {
            let name = &self.def.locals[param.0 as usize].name;
            let reg = self.b.param(name);
            self.registers[param.0 as usize] = Some(reg);
        }
        if matches!(self.unit.types.kind(self.def.ty), TypeKind::Function { variadic: true, .. }) {
            self.varargs = Some(self.b.param("arguments"));
        }
        if self.atomic_section {
            self.b.emit(Instr::AtomicBegin);
        }
        if let Some(frame) = self.def.frame
            && let places::Where::Register(reg) = self.variable(frame, self.def.span)?
        {
            self.b.assign(reg, Operand::Const(Value::ZERO));
        }
        Ok(())
    }

    fn epilogue(&mut self, end: Span) -> Res<()> {
        self.b.span = end;
        self.leave_function();
        let main = self.def.name == "main";
        let result = main.then_some(Operand::Const(Value::ZERO));
        self.b.emit(Instr::Return(result));
        self.resolve_jumps()
    }

    fn leave_function(&mut self) {
        // What main gave to other threads stays with them to their end.
        if let Some(frame) = self.def.frame.filter(|_| self.def.name != "main")
            && let Some(reg) = self.registers[frame.0 as usize]
            && let Some(callee) = self.runtime_function("__fp_alloca_end")
        {
            self.b.emit(Instr::Call { dst: None, callee, args: vec![Operand::Reg(reg)] });
        }
        if self.atomic_section {
            self.b.emit(Instr::AtomicEnd);
        }
    }

    /// The cells of a type, or an error if they are too many.
    fn cells(&self, ty: QTy, span: Span) -> Res<Vec<TypeCell>> {
        match self.unit.types.cells(ty) {
            Some(cells) => Ok(cells),
            None => too_many_cells(span),
        }
    }

    /// What is known of a variable.
    fn fact(&self, local: LocalId) -> Fact {
        let parameter = self.def.params.iter().position(|p| *p == local);
        parameter.and_then(|p| self.facts.get(p)).copied().unwrap_or(Fact::Open)
    }

    /// What is known of the arguments of a call, if the function wants to know anything.
    fn facts_of(&self, function: FuncId, args: &[Expr]) -> Vec<Fact> {
        if !self.program.wishes.any(function) {
            return Vec::new();
        }
        let fact = |(i, arg): (usize, &Expr)| match self.program.wishes.get(function, i) {
            Wish::Nothing => Fact::Open,
            Wish::Pointee => self.static_pointee(arg).map_or(Fact::Open, Fact::Pointee),
            Wish::Value => match (crate::sema::evaluate(self.unit, arg), specialise::plain_local(arg)) {
                (Some(crate::sema::Const::Int(number)), _) => Fact::Constant(Value(number)),
                (_, Some(local)) => self.fact(local),
                _ => Fact::Open,
            },
        };
        let facts: Vec<Fact> = args.iter().enumerate().map(fact).collect();
        if facts.iter().all(|f| *f == Fact::Open) { Vec::new() } else { facts }
    }

    /// Width and extension of a scalar type.
    fn shape(&self, ty: Ty) -> (Width, Extend) {
        crate::sema::representation(&self.unit.types, ty)
    }

    /// A local object as the IR describes it, without initial values.
    fn local_object(&self, local: LocalId) -> Res<Object> {
        let info = &self.def.locals[local.0 as usize];
        let size = self.unit.types.size(info.ty.ty).unwrap_or(0);
        let mut cells: Vec<Cell> = self
            .cells(info.ty, info.span)?
            .iter()
            .map(|c| Cell { offset: c.offset as u32, width: c.width, init: None })
            .collect();
        sort_cells(&mut cells);
        let name = if info.name.is_empty() { "temporary".to_string() } else { info.name.clone() };
        Ok(Object { name, size: size as u32, cells, span: info.span, constant: false })
    }
}

/// Cells are listed one by one.
fn too_many_cells<T>(span: Span) -> Res<T> {
    unsupported(span, "an object of more than a million cells", "make it smaller")
}

/// Sorts cells and removes the equal ones that unions give.
fn sort_cells(cells: &mut Vec<Cell>) {
    let sorted = cells.windows(2).all(|w| (w[0].offset, w[0].width) < (w[1].offset, w[1].width));
    if !sorted {
        cells.sort_by_key(|c| (c.offset, c.width, c.init.is_none()));
        cells.dedup_by_key(|c| (c.offset, c.width));
    }
}
