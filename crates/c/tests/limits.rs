//! Large and deeply nested programs: read within a second of processor time, or refused with a clear error. Nothing here may
//! overflow the stack, and nothing may take time that grows with the square of the input.

use fencepost_c::{Options, compile};
use fencepost_diag::SourceFile;
use std::time::{Duration, Instant};

const MANY: usize = 100_000;

/// Generous: the machine that runs the tests may be slow, and the tests are not fully optimised.
const DEADLINE: Duration = Duration::from_secs(3);

/// The processor time of this thread, where the system tells it; else the time that has passed since `start`.
fn time_since(start: Instant) -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = text.and_then(|text| text.split(' ').next().and_then(|n| n.parse().ok()));
    nanoseconds.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// Compiles on a thread with the stack of a main thread; gives the error and the time.
fn timed(name: &'static str, text: String) -> (Option<String>, Duration) {
    eprintln!("{name}");
    let work = move || {
        let start = Instant::now();
        let before = time_since(start);
        let loader = |_: &str| Some("#include \"again.h\"\n".to_string());
        let options = Options { loader: Some(&loader), ..Options::default() };
        let result = compile(&SourceFile::new(name, text), &options);
        let time = time_since(start).saturating_sub(before);
        (result.err().map(|failure| failure.diagnostics[0].message.clone()), time)
    };
    let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(work).expect("a thread");
    thread.join().unwrap_or_else(|_| panic!("{name} failed"))
}

/// The error of a program that is read or refused in time.
fn error_of(name: &'static str, text: String) -> Option<String> {
    let (error, time) = timed(name, text);
    assert!(time < DEADLINE, "{name} took {time:?}");
    error
}

/// `item(0)`, `item(1)`, ...
fn repeated(item: impl Fn(usize) -> String) -> String {
    (0..MANY).map(item).collect()
}

fn in_main(text: String) -> String {
    format!("int main(void) {{ int x = 0; {text} return 0; }}\n")
}

fn nested(open: &str, inside: &str, close: &str) -> String {
    format!("{}{inside}{}", open.repeat(MANY), close.repeat(MANY))
}

#[test]
fn long_programs_take_time_that_grows_with_their_length() {
    let main = "int main(void) { return 0; }\n";
    let programs: Vec<(&'static str, String)> = vec![
        ("initialisers", format!("int a[] = {{{}}}; {main}", repeated(|i| format!("{i},")))),
        (
            "structures",
            format!("struct {{ int a, b; }} a[] = {{{}}}; {main}", repeated(|_| "{1, .b = 2},".into())),
        ),
        (
            "local initialisers",
            in_main(format!("int a[] = {{{}}}; x = a[3];", repeated(|i| format!("{i},")))),
        ),
        ("string", format!("const char s[] = \"{0}\", *t = \"{0}\"; {main}", "x".repeat(MANY))),
        ("joined strings", format!("const char *t = {}; {main}", "\"x\" ".repeat(MANY))),
        ("strings", format!("const char *t[] = {{{}}}; {main}", repeated(|i| format!("\"s{i}\",")))),
        ("macros", repeated(|i| format!("#define M{i} {i}\n")) + main),
        ("macros with parameters", repeated(|i| format!("#define M{i}(x) ((x) + {i})\n")) + main),
        (
            "macros of macros",
            format!("#define M0 0\n{}", repeated(|i| format!("#define M{} M{i}\n", i + 1)))
                + &format!("int main(void) {{ return M{MANY}; }}"),
        ),
        ("uses of a macro", format!("#define F(x) ((x) + 1)\n{}", in_main("x = F(x);\n".repeat(MANY)))),
        (
            "pasted names",
            format!("#define P(a, b) a##b\n{}{main}", repeated(|i| format!("int P(x, {i});\n"))),
        ),
        (
            "arguments of a macro",
            format!("#define F(...) 0\nint main(void) {{ return F({}1); }}", "1, ".repeat(MANY)),
        ),
        ("lines", repeated(|i| format!("# {i} \"f.c\"\n")) + main),
        ("line numbers", format!("{}{main}", repeated(|i| format!("enum {{ e{i} = __LINE__ }};\n")))),
        ("conditionals", format!("{}{main}", nested("#if 1\n", "", "#endif\n"))),
        ("skipped conditionals", format!("{}{main}", nested("#if 0\n", "", "#endif\n"))),
        ("condition", format!("#if {}1\n#endif\n{main}", "1 + ".repeat(MANY))),
        ("statements", in_main("x++;\n".repeat(MANY))),
        (
            "assertions",
            format!("#include <assert.h>\n{}", in_main(repeated(|i| format!("assert(x != {});\n", i + 1)))),
        ),
        ("locals", in_main(repeated(|i| format!("int x{i} = {i};\n")))),
        ("globals", repeated(|i| format!("int x{i} = {i};\n")) + main),
        ("functions", repeated(|i| format!("int f{i}(int x) {{ return x + {i}; }}\n")) + main),
        ("declarations", repeated(|i| format!("int f{i}(int x, char *y);\n")) + main),
        ("enumerators", format!("enum e {{ {} }}; {main}", repeated(|i| format!("E{i},")))),
        ("members", format!("struct s {{ {} }} s; {main}", repeated(|i| format!("int m{i};")))),
        ("cases", in_main(format!("switch (x) {{ {} }}", repeated(|i| format!("case {i}: break;\n"))))),
        ("labels", in_main(repeated(|i| format!("l{i}:;")))),
        ("jumps", in_main(repeated(|i| format!("goto l{i}; l{i}:;")))),
        ("parameters", format!("int f(int a{}) {{ return 0; }} {main}", repeated(|i| format!(", int a{i}")))),
        ("comment", format!("/*{}*/ {main}", "x\n".repeat(MANY))),
        ("continued line", format!("int main(void) {{ return {}0; }}", "\\\n".repeat(MANY))),
        ("name", format!("int {}; {main}", "x".repeat(MANY))),
    ];
    let mut wrong = Vec::new();
    for (name, text) in programs {
        let (error, time) = timed(name, text);
        if time >= DEADLINE || error.is_some() {
            wrong.push(format!("{name}: {time:?} {error:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn deep_nesting_is_an_error() {
    let value = |text: String| format!("int main(void) {{ return {text}; }}\n");
    let main = "int main(void) { return 0; }\n";
    let programs: Vec<(&'static str, String)> = vec![
        ("parentheses", value(nested("(", "0", ")"))),
        ("negations", value("!".repeat(MANY) + "0")),
        ("casts", value("(int)".repeat(MANY) + "0")),
        ("sums", value("0 + ".repeat(MANY) + "0")),
        ("commas", value("0, ".repeat(MANY) + "0")),
        ("choices", value("0 ? 1 : ".repeat(MANY) + "0")),
        ("inner choices", value(nested("1 ? ", "0", " : 0"))),
        ("calls", format!("int f(int x) {{ return x; }} {}", value(nested("f(", "0", ")")))),
        ("indices", in_main(format!("int a[1] = {{0}}; x = {};", nested("a[", "0", "]")))),
        ("assignments", in_main(format!("{}0;", "x = ".repeat(MANY)))),
        ("sizes", value("sizeof ".repeat(MANY) + "0")),
        ("selections", value(nested("_Generic(0, int: ", "0", ")"))),
        ("statement expressions", value(nested("({ ", "0;", " })"))),
        (
            "members",
            format!(
                "struct s {{ struct s *n; }} s; int main(void) {{ return s.n{} == 0; }}",
                "->n".repeat(MANY)
            ),
        ),
        ("blocks", in_main(nested("{", "", "}"))),
        ("ifs", in_main("if (x) ".repeat(MANY) + ";")),
        ("elses", in_main("if (x) x = 1; else ".repeat(MANY) + ";")),
        ("loops", in_main("while (x) ".repeat(MANY) + ";")),
        ("labels before one statement", in_main(repeated(|i| format!("l{i}: ")) + ";")),
        ("braces", format!("int a = {}; {main}", nested("{", "0", "}"))),
        ("pointers", format!("int {}p; {main}", "*".repeat(MANY))),
        ("declarators", format!("int {}; {main}", nested("(", "p", ")"))),
        ("arrays", format!("int p{}; {main}", "[1]".repeat(MANY))),
        ("function types", format!("void f{}; {main}", nested("(void (*", "", "))"))),
        ("structures", format!("{} {main}", nested("struct { ", "int x;", " } m;"))),
        (
            "types of types",
            format!("int main(void) {{ {} x = 0; return x; }}", nested("typeof(", "int", ")")),
        ),
        ("parentheses of a condition", format!("#if {}\n#endif\n{main}", nested("(", "1", ")"))),
        ("negations of a condition", format!("#if {}1\n#endif\n{main}", "!".repeat(MANY))),
        ("choices of a condition", format!("#if {}\n#endif\n{main}", nested("1 ? ", "1", " : 1"))),
        ("arguments of macros", format!("#define F(x) x\n{}", value(nested("F(", "0", ")")))),
        (
            "growing macros",
            format!(
                "#define A0 x\n{}int main(void) {{ A60; }}",
                (0..60).map(|i| format!("#define A{} A{i} A{i}\n", i + 1)).collect::<String>()
            ),
        ),
        ("includes", "#include \"again.h\"\n".to_string()),
    ];
    for (name, text) in programs {
        let error = error_of(name, text).unwrap_or_else(|| panic!("{name} is read"));
        let clear =
            ["too deeply", "operators in a row", "too many tokens"].iter().any(|part| error.contains(part));
        assert!(clear, "{name}: {error}");
    }
}

/// A chain of types is as deep as one declaration with as many pointers.
#[test]
fn types_of_typedefs_may_be_deep() {
    let chain = repeated(|i| format!("typedef t{i} *t{};\n", i + 1));
    let text = format!("typedef int t0;\n{chain}t{MANY} x; int main(void) {{ return x != 0; }}\n");
    if let Some(error) = error_of("typedefs", text) {
        assert!(error.contains("too deeply"), "{error}");
    }
}
