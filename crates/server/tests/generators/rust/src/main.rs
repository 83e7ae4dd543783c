mod types;
fn main() {}
