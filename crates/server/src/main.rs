//! The binary: the command line and nothing else.

fn main() -> std::process::ExitCode {
    regente::cli::run()
}
