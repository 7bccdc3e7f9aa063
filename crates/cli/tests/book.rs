//! The pages of the book about findings are made of the table of findings, that about models of what `compare` says, and both are
//! what these say now. `INSTA_UPDATE=always` writes them. Every link leads somewhere.

mod support;

use fencepost_answer::kind::{Entry, Severity, TABLE};
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/book/src")
}

fn page(entry: &Entry) -> String {
    let severity = match entry.severity {
        Severity::Error => "An error: the verdict is *unsafe*.",
        Severity::Warning => "A warning: it changes neither verdict nor exit code.",
        Severity::Unknown => "The program goes where the engine cannot follow: the verdict is *unknown*.",
    };
    let mut text = format!(
        "# {}: {}\n\n{severity}\n\n**What it means.** {}.\n\n**What to do.** {}.\n",
        entry.code, entry.name, entry.meaning, entry.advice
    );
    if !entry.examples.is_empty() {
        text += "\n**Programs that show it.**\n\n";
        for example in entry.examples {
            let path = if example.contains('/') {
                example.to_string()
            } else {
                format!("crates/c/corpus/{example}")
            };
            text += &format!("- `{path}`\n");
        }
    }
    text + &shown(entry.code)
}

fn program(name: &str) -> String {
    format!("docs/book/programs/{name}")
}

fn text_of(path: &str) -> String {
    let top = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(top.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The options that the first line of a program asks for.
fn options(path: &str) -> Vec<String> {
    let text = text_of(path);
    let asked = text.lines().next().and_then(|line| line.strip_prefix("// check: ")).expect("options");
    asked.split_whitespace().map(String::from).collect()
}

/// The end of a page: a program that shows what it is about, and how it is mended.
fn shown(name: &str) -> String {
    let path = program(&format!("{name}.c"));
    let text = text_of(&path);
    let text = text.split_once('\n').expect("lines").1;
    let asked = options(&path).join(" ");
    format!(
        "{SHOWN}\n`fencepost check {path} {asked}` finds it; with `-- -DMENDED` nothing is wrong.\n\n```c\n{}\n```\n",
        text.trim()
    )
}

/// The same for a model that litmus tests alone know.
fn shown_tests(name: &str) -> String {
    let [broken, mended] = ["broken", "mended"].map(|kind| program(&format!("{name}_{kind}.litmus")));
    let block = |path: &str| format!("```text\n{}\n```\n", text_of(path).trim());
    format!(
        "{SHOWN}\n`fencepost litmus -m {name} {broken}` says *Sometimes*:\n\n{}\nand for `{mended}` *Never*:\n\n{}",
        block(&broken),
        block(&mended)
    )
}

const SHOWN: &str = "\n## Broken, and mended\n";

fn index() -> String {
    let mut text = String::from("# Findings\n\n`fencepost explain CODE` says the same on the terminal.\n\n");
    for entry in TABLE {
        text += &format!("- [{}: {}]({}.md)\n", entry.code, entry.name, entry.code);
    }
    text
}

#[test]
fn the_pages_of_findings_are_current() {
    let mut pages: Vec<(String, String)> = vec![("findings/README.md".into(), index())];
    pages.extend(TABLE.iter().map(|entry| (format!("findings/{}.md", entry.code), page(entry))));
    for (name, text) in pages {
        let path = folder().join(&name);
        if std::env::var("INSTA_UPDATE").as_deref() == Ok("always") {
            std::fs::write(&path, &text).expect("written");
        }
        let there = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(there, text, "{name} is not what the table says");
    }
}

/// Pages about models are written by hand, but for their programs.
#[test]
fn the_pages_of_models_show_their_programs() {
    for model in fencepost_models::registry::MODELS {
        let path = folder().join(format!("models/{}.md", model.name));
        let there = std::fs::read_to_string(&path).unwrap_or_default();
        let own = there.split(SHOWN).next().unwrap_or_default();
        let tests_only = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .join(program(&format!("{}_broken.litmus", model.name)))
            .is_file();
        let end = if tests_only { shown_tests(model.name) } else { shown(model.name) };
        let text = format!("{own}{end}");
        if std::env::var("INSTA_UPDATE").as_deref() == Ok("always") {
            std::fs::write(&path, &text).expect("written");
        }
        let there = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(there, text, "{} does not show its program", model.name);
    }
}

/// What the pages say of their programs is so: the broken one shows the finding, the mended one is safe.
#[test]
fn the_programs_of_the_pages_are_broken_and_mended() {
    let mut wrong = Vec::new();
    let answer = |path: &str, mended: bool| {
        let options = options(path);
        let mut words = vec!["check", "-j1", "--quiet", path];
        words.extend(options.iter().map(String::as_str));
        words.extend(mended.then_some("-DMENDED"));
        support::run(&words)
    };
    for entry in TABLE {
        let path = program(&format!("{}.c", entry.code));
        let (broken, mended) = (answer(&path, false), answer(&path, true));
        if !broken.contains(&format!("[{}]", entry.code))
            || !mended.contains("exit code 0")
            || mended.contains("[FP")
        {
            wrong.push(format!("{path}:\n{broken}\nmended:\n{mended}"));
        }
    }
    for model in fencepost_models::registry::MODELS {
        let [broken, mended] =
            ["broken", "mended"].map(|kind| program(&format!("{}_{kind}.litmus", model.name)));
        let path = program(&format!("{}.c", model.name));
        let right = match PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(&path).is_file() {
            true => {
                answer(&path, false).contains("exit code 1") && answer(&path, true).contains("exit code 0")
            }
            false => {
                let verdict = |path: &str| support::run(&["litmus", "-m", model.name, path]);
                verdict(&broken).contains("Sometimes") && verdict(&mended).contains("Never")
            }
        };
        if !right {
            wrong.push(format!("the program of {}", model.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every page that the summary names is there, and every page is named.
#[test]
fn the_summary_is_complete() {
    let summary = std::fs::read_to_string(folder().join("SUMMARY.md")).expect("a summary");
    let named: Vec<&str> = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    for name in named.iter().filter(|name| !name.is_empty()) {
        assert!(folder().join(name).is_file(), "{name} is missing");
    }
    for part in ["engines", "models", "findings"] {
        for entry in std::fs::read_dir(folder().join(part)).expect("a folder").flatten() {
            let name = format!("{part}/{}", entry.file_name().to_string_lossy());
            assert!(named.contains(&name.as_str()), "{name} is not in the summary");
        }
    }
}

/// There is a page for every model and every engine.
#[test]
fn models_and_engines_have_pages() {
    for model in fencepost_models::registry::MODELS {
        assert!(folder().join(format!("models/{}.md", model.name)).is_file(), "{}", model.name);
    }
    for engine in ["explore", "states", "reduce", "bmc", "run", "prove"] {
        assert!(folder().join(format!("engines/{engine}.md")).is_file(), "{engine}");
    }
}

/// What the models allow is what `compare` says.
#[test]
fn the_table_of_models_is_current() {
    let output = support::fencepost(&["compare", "crates/litmus/textbook"]).output().expect("it runs");
    let table = String::from_utf8(output.stdout).expect("text");
    let text = format!(
        "# What the models allow\n\nThe tests of every introduction to memory models, on hardware, with and without \
            full fences: what \
         `fencepost compare crates/litmus/textbook`\nprints. `fencepost compare FILE` does the same for your test or \
         program, and shows an execution of what a weaker model adds.\n\n\
         ```text\n{table}```\n\nThe models of languages ([ra](ra.md), [rc11](rc11.md), [rc20](rc20.md), [ps](ps.md)) \
         know memory orders: \
         `fencepost compare examples/iriw+acqs.litmus -m rc11,ra`.\n"
    );
    let path = folder().join("models/table.md");
    if std::env::var("INSTA_UPDATE").as_deref() == Ok("always") {
        std::fs::write(&path, &text).expect("written");
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), text);
}

fn pages(folder: &std::path::Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(pages(&path)),
            path => found.push(path),
        }
    }
    found
}

/// Every link to a page, and every path of the repository that a page names, is there.
#[test]
fn every_link_leads_somewhere() {
    let top = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut links = 0;
    for page in pages(&folder()) {
        let text = std::fs::read_to_string(&page).expect("text");
        let own = page.parent().expect("a folder");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap_or_default();
            assert!(file.is_empty() || own.join(file).is_file(), "{}: {link}", page.display());
            links += 1;
        }
        for word in text.split(|c: char| c.is_whitespace() || "`,;()".contains(c)) {
            let word = word.trim_end_matches(['.', ':']);
            if ["docs/", "crates/", "examples/"].iter().any(|start| word.starts_with(start)) {
                assert!(top.join(word).exists(), "{}: {word}", page.display());
            }
        }
    }
    assert!(links > 50, "{links}");
}
