#!/usr/bin/env python3
"""Runs the loom tests of published crates on crates/loom, and on loom itself, one after the other; prints a table.

    xtask/rust_clients.py FOLDER [--seconds S] [--loom-seconds S] [--only CRATE[,CRATE...]] [--without-loom] [--release-of loom]

FOLDER is a scratch folder outside of the repository. The crates are fetched with cargo; no file of theirs is changed but the lock file, in which the
stand-in takes the place of loom. Each test is a process of its own that has so many CPU seconds; a test that has several models has them for each model.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent.parent

OURS = ["fencepost-explore", "fencepost-loom", "fencepost-ir"]

# crate, version, version of loom, flags, arguments of cargo test, filter of test names
CLIENTS = [
    ("concurrent-queue", "2.5.0", "0.7", "--cfg loom", "--test loom", ""),
    ("event-listener", "5.4.2", "0.7", "--cfg loom", "--test loom --features loom", ""),
    ("oneshot", "0.1.13", "0.7", "--cfg oneshot_loom", "--test loom --features loom", ""),
    ("cordyceps", "0.3.5", "0.7", "--cfg loom", "--lib", "loom|model|stack|queue|list"),
    ("maitake-sync", "0.3.0", "0.7", "--cfg loom", "--lib", "loom|model"),
    ("thingbuf", "0.1.6", "0.5", "--cfg loom", "--lib", ""),
    ("sharded-slab", "0.1.7", "0.5", "--cfg loom", "--lib", "loom"),
    ("bytes", "1.12.1", "0.7", "--cfg loom", "--lib", "fuzz"),
    ("boxcar", "0.2.14", "0.7", "--cfg loom", "--test loom --test loom_buckets", ""),
    ("haphazard", "0.1.8", "0.7", "--cfg loom", "--test loom", ""),
    ("crossbeam-epoch", "0.9.21", "0.7", "--cfg crossbeam_loom", "--test loom --features loom", ""),
    ("parking", "2.2.1", "0.7", "--cfg loom", "--test loom", ""),
    ("async-lock", "3.5.0", "0.7", "--cfg loom", "--test loom --features loom", ""),
    ("diatomic-waker", "0.2.3", "0.7", "--cfg diatomic_waker_loom", "--lib", "loom"),
    ("tachyonix", "0.3.1", "0.7", "--cfg tachyonix_loom", "--lib", "loom"),
    ("st3", "0.4.1", "0.5", "--cfg st3_loom", "--test loom", ""),
    ("multishot", "0.3.2", "0.5", "--cfg multishot_loom", "--lib", "loom"),
    ("async-event", "0.2.1", "0.5", "--cfg async_event_loom", "--lib", "loom"),
    ("sdd", "4.8.11", "0.7", "", "--lib --features loom", "loom|model"),
    ("saa", "5.6.2", "0.7", "", "--lib --features loom", "loom|model"),
    ("tokio", "1.54.1", "0.7", "--cfg loom",
     "--lib --features rt,rt-multi-thread,sync,macros,time,io-util,io-std,test-util", "loom_"),
]


def fetch(folder, name, version):
    """A copy of the crate's sources."""
    to = folder / "src" / f"{name}-{version}"
    if to.exists():
        return to
    probe = folder / "probe" / name
    (probe / "src").mkdir(parents=True, exist_ok=True)
    (probe / "src" / "lib.rs").write_text("")
    (probe / "Cargo.toml").write_text(
        f'[package]\nname = "probe"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n{name} = "={version}"\n[workspace]\n')
    text = subprocess.run(["cargo", "metadata", "--format-version", "1"], cwd=probe, check=True, capture_output=True).stdout
    found = [p for p in json.loads(text)["packages"] if p["name"] == name]
    shutil.copytree(pathlib.Path(found[0]["manifest_path"]).parent, to)
    return to


def build(folder, source, client, ours, target):
    """The test executables, or what went wrong."""
    name, _, loom, flags, arguments, _ = client
    environment = dict(os.environ, CARGO_TARGET_DIR=str(target), RUSTFLAGS=flags)
    # The tests of some do not compile without debug assertions. What explores needs none, neither ours nor loom.
    checks = ["profile.release.debug-assertions=true"]
    checks += [f"profile.release.package.{p}.debug-assertions=false" for p in (OURS if ours else ["loom", "generator"])]
    # One copy of the explorer for each form of rows would take long to build.
    checks += ["profile.release.package.fencepost-explore.opt-level=2"] if ours else []
    patch = [f'patch.crates-io.loom.path="{HERE}/crates/loom/patch/{loom}"'] if ours else []
    patch = [word for setting in patch + checks for word in ("--config", setting)]
    (source / "Cargo.lock").unlink(missing_ok=True)
    cargo = ["cargo"] + patch + ["test", "--release", "--no-run", "--message-format=json"] + arguments.split()
    done = subprocess.run(cargo, cwd=source, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if line.startswith("error")]
        messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        errors += [m["message"]["message"] for m in messages
                   if m.get("reason") == "compiler-message" and m["message"]["level"] == "error"]
        return None, "; ".join(errors[:3])
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return [m["executable"] for m in messages if m.get("executable") and m["profile"]["test"]], ""


def tests_of(executable, pattern):
    listed = subprocess.run([executable, "--list", "--format", "terse"], capture_output=True, text=True).stdout
    names = [line[: -len(": test")] for line in listed.splitlines() if line.endswith(": test")]
    return [name for name in names if re.search(pattern, name)]


def run(executable, test, ours, seconds, cwd):
    """Verdict, number of executions or iterations, CPU seconds."""
    environment = dict(os.environ, FENCEPOST_LOG="1", LOOM_LOG="loom=info", LOOM_MAX_DURATION=str(10 * seconds))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    try:
        done = subprocess.run([executable, test, "--exact", "--nocapture", "--test-threads", "1"], env=environment, cwd=cwd,
                              capture_output=True, timeout=10 * seconds + 30, preexec_fn=limit)
        code, text = done.returncode, (done.stdout + done.stderr).decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        code, text = None, ((late.stdout or b"") + (late.stderr or b"")).decode(errors="replace")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if ours:
        count = sum(int(n) for n in re.findall(r"(\d+) executions, \d+ blocked", text))
    else:
        count = sum(int(n) for n in re.findall(r"Completed in (\d+) iterations", text))
    if code == 0:
        verdict = "stopped" if "stopped early" in text else "ok"
    elif code is None or code < 0 and code != -6 and code != -11 or cpu >= seconds - 0.1:
        verdict = "stopped"
    else:
        verdict = "FAILED"
        lines = [l for l in text.splitlines() if l.strip() and not l.startswith(("running", "test "))]
        interesting = [l for l in lines if "panicked" in l or "-->" in l or "error" in l.lower() or "SIG" in l]
        verdict += ": " + " | ".join(interesting[:4])[:300] if interesting else f": exit {code}"
    return verdict, count, cpu


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--loom-seconds", type=int, default=60)
    parser.add_argument("--only", default="")
    parser.add_argument("--without-loom", action="store_true")
    options = parser.parse_args()
    folder = options.folder.resolve()
    only = [name for name in options.only.split(",") if name]
    print("crate\ttest\tours\texecutions\tCPU s\tloom\titerations\tCPU s", flush=True)
    for client in CLIENTS:
        name, version = client[:2]
        if only and name not in only:
            continue
        try:
            source = fetch(folder, name, version)
        except (subprocess.CalledProcessError, IndexError) as error:
            print(f"{name}-{version}\t-\tnot fetched: {error}", flush=True)
            continue
        sides = [(True, options.seconds)] + ([] if options.without_loom else [(False, options.loom_seconds)])
        results = {}
        for ours, seconds in sides:
            target = folder / ("target" if ours else "target-loom")
            executables, wrong = build(folder, source, client, ours, target)
            if executables is None:
                results.setdefault("-", {})[ours] = (f"does not compile: {wrong}", 0, 0.0)
                continue
            for executable in executables:
                for test in tests_of(executable, client[5]):
                    row = results.setdefault(test, {})
                    row[ours] = run(executable, test, ours, seconds, source)
                    if not ours or options.without_loom:
                        show(name, version, test, row)
        for test, row in results.items():
            if test == "-" or (not options.without_loom and False not in row):
                show(name, version, test, row)


def show(name, version, test, row):
    cells = [f"{name}-{version}", test]
    for ours in (True, False):
        if ours in row:
            verdict, count, cpu = row[ours]
            cells += [verdict, str(count), f"{cpu:.2f}"]
    print("\t".join(cells), flush=True)


if __name__ == "__main__":
    sys.exit(main())
