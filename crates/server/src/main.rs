//! Runs the command line.

use tikv_jemallocator::Jemalloc;

/// Threads free memory that other threads allocated; the system's allocator would make them wait for each other.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> std::process::ExitCode {
    regente::cli::run()
}
