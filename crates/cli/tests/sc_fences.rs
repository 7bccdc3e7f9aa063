//! Sequentially consistent accesses and fences that are weaker: the order of the former goes through the latter, which are no accesses to any
//! location. The judge is the cat text of the model, as a user's file.

use fencepost::Litmus;

/// Three edges of store buffering by seq_cst accesses, and one that goes through a fence.
fn test(release: &str, acquire: &str) -> String {
    format!(
        "C through\n{{}}\n\
         P0(atomic_int* a, atomic_int* b) {{ atomic_store_explicit(a, 1, memory_order_seq_cst); {release} }}\n\
         P1(atomic_int* b, atomic_int* c) {{ {acquire} int r1 = atomic_load_explicit(c, memory_order_seq_cst); }}\n\
         P2(atomic_int* c, atomic_int* d) {{ atomic_store_explicit(c, 1, memory_order_seq_cst); int r1 = atomic_load_explicit(d, memory_order_seq_cst); }}\n\
         P3(atomic_int* d, atomic_int* a) {{ atomic_store_explicit(d, 1, memory_order_seq_cst); int r1 = atomic_load_explicit(a, memory_order_seq_cst); }}\n\
         exists (1:r0=1 /\\ 1:r1=0 /\\ 2:r1=0 /\\ 3:r1=0)\n"
    )
}

#[test]
fn weaker_fences_carry_the_order_of_seq_cst_accesses() {
    let releases = [
        "atomic_store_explicit(b, 1, memory_order_release);",
        "atomic_thread_fence(memory_order_release); atomic_store_explicit(b, 1, memory_order_relaxed);",
        // Nothing orders these.
        "atomic_store_explicit(b, 1, memory_order_relaxed);",
        "atomic_store_explicit(b, 1, memory_order_relaxed); atomic_thread_fence(memory_order_release);",
    ];
    let acquires = [
        "int r0 = atomic_load_explicit(b, memory_order_acquire);",
        "int r0 = atomic_load_explicit(b, memory_order_relaxed); atomic_thread_fence(memory_order_acquire);",
        "int r0 = atomic_load_explicit(b, memory_order_relaxed);",
    ];
    let folder = std::env::temp_dir().join(format!("fencepost-sc-fences-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    for model in ["rc11", "rc20"] {
        let cat = format!("{}/../models/cat/{model}.cat", env!("CARGO_MANIFEST_DIR"));
        let copy = folder.join(format!("mine-{model}.cat"));
        std::fs::copy(cat, &copy).expect("copied");
        for (i, release) in releases.iter().enumerate() {
            for (j, acquire) in acquires.iter().enumerate() {
                let text = test(release, acquire);
                let count = |model: &str| {
                    let outcome = Litmus::new("test", text.as_str()).model(model).run().expect("an answer");
                    let observed = outcome.observed.expect("states");
                    (observed.states, observed.satisfying)
                };
                let ours = count(model);
                assert_eq!(ours, count(&copy.display().to_string()), "{model}\n{text}");
                assert_eq!(ours.1 > 0, i > 1 || j > 1, "{model}\n{text}");
            }
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
}
