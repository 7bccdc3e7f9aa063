//! loom's way to ask: [`model`] panics if something is wrong.

use crate::check::{Config, Model};
use std::env;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// How to explore; fields that say how loom does it change nothing here.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Builder {
    /// Threads that a model may have: no limit here.
    pub max_threads: usize,
    /// Steps that a thread may make.
    pub max_branches: usize,
    /// Executions that are explored at most.
    pub max_permutations: Option<usize>,
    /// Time that is spent at most.
    pub max_duration: Option<Duration>,
    /// Not needed: everything is explored.
    pub preemption_bound: Option<usize>,
    /// Where loom keeps how far it is; nothing is kept here.
    pub checkpoint_file: Option<PathBuf>,
    /// How often loom does.
    pub checkpoint_interval: usize,
    /// Whether loom waits for `explore`; nothing waits here.
    pub expect_explicit_explore: bool,
    /// Whether loom notes places: they are always noted here.
    pub location: bool,
    /// Whether loom tells what it does.
    pub log: bool,
}

fn variable<T: FromStr>(name: &str) -> Option<T> {
    let text = env::var(name).ok()?;
    match text.parse() {
        Ok(value) => Some(value),
        Err(_) => panic!("`{name}` is `{text}`, which is no number"),
    }
}

impl Builder {
    /// As the variables `LOOM_*` say.
    pub fn new() -> Builder {
        Builder {
            max_threads: crate::MAX_THREADS,
            max_branches: variable("LOOM_MAX_BRANCHES").unwrap_or(Config::default().max_branches),
            max_permutations: variable("LOOM_MAX_PERMUTATIONS"),
            max_duration: variable("LOOM_MAX_DURATION").map(Duration::from_secs),
            preemption_bound: variable("LOOM_MAX_PREEMPTIONS"),
            checkpoint_file: env::var_os("LOOM_CHECKPOINT_FILE").map(PathBuf::from),
            checkpoint_interval: variable("LOOM_CHECKPOINT_INTERVAL").unwrap_or(20_000),
            expect_explicit_explore: false,
            location: env::var_os("LOOM_LOCATION").is_some(),
            log: env::var_os("LOOM_LOG").is_some(),
        }
    }

    /// Accepted; nothing is kept.
    pub fn checkpoint_file(&mut self, file: &str) -> &mut Self {
        self.checkpoint_file = Some(file.into());
        self
    }

    /// Explores all executions, and panics if one of them shows a mistake.
    pub fn check<F>(&self, f: F)
    where
        F: Fn() + Sync + Send + 'static,
    {
        let model = env::var("FENCEPOST_MODEL").ok().map(|name| match Model::from_name(&name) {
            Some(model) => model,
            None => panic!("`FENCEPOST_MODEL` is `{name}`; known are rc11, rc20, ra, sc, tso and pso"),
        });
        let config = Config {
            model: model.unwrap_or(Model::Rc11),
            workers: variable("FENCEPOST_WORKERS").unwrap_or(1),
            max_branches: self.max_branches.max(Config::default().max_branches),
            max_executions: self.max_permutations.map(|most| most as u64),
            max_duration: self.max_duration,
            ..Config::default()
        };
        if let Ok(execution) = env::var("FENCEPOST_REPLAY") {
            match config.replay(f, &execution) {
                Some(story) => story.iter().for_each(|line| eprintln!("{line}")),
                None => panic!("`FENCEPOST_REPLAY` is no execution, as a report has it"),
            }
            panic!("one execution was run, as `FENCEPOST_REPLAY` says, and nothing explored");
        }
        let report = config.check(f);
        if env::var_os("FENCEPOST_LOG").is_some() {
            eprintln!("fencepost: {report}");
        }
        if let Some(why) = &report.refused {
            panic!("{why}");
        }
        assert!(report.findings.is_empty(), "{report}");
        // A limit that its user has set ends the exploration; what is cut without one is no answer.
        assert!(
            report.cut == 0,
            "some executions were not followed to their ends: a loop without `yield_now`, or `max_branches` is too small\n{report}"
        );
        let limited = self.max_permutations.is_some() || self.max_duration.is_some();
        assert!(report.stopped.is_none() || limited, "{report}");
    }
}

impl Default for Builder {
    fn default() -> Builder {
        Builder::new()
    }
}

/// Explores all executions of a closure, and panics if one of them shows a mistake.
pub fn model<F>(f: F)
where
    F: Fn() + Sync + Send + 'static,
{
    Builder::new().check(f);
}
