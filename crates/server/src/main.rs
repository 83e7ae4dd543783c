//! The binary: the command line and nothing else.

use tikv_jemallocator::Jemalloc;

/// Many threads allocate and free what others made; the system's allocator would make them wait for each other.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> std::process::ExitCode {
    regente::cli::run()
}
