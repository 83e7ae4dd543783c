//! Tests with names as `perf` prints them.

use super::*;

#[test]
fn functions_belong_to_the_layer_that_their_name_speaks_of() {
    for (object, symbol, layer) in [
        ("[kernel.kallsyms]", "[k] finish_task_switch.isra.0", KERNEL),
        ("libc.so.6", "[.] _int_malloc", MEMORY),
        ("libc.so.6", "[.] cfree@GLIBC_2.2.5", MEMORY),
        ("libc.so.6", "[.] unlink_chunk.constprop.0", MEMORY),
        ("regente", "[.] __rustc::__rdl_alloc", MEMORY),
        ("libc.so.6", "[.] __memmove_avx512_unaligned_erms", COPYING),
        ("libc.so.6", "[.] clock_gettime@@GLIBC_2.17", LIBC),
        ("[vdso]", "[.] __vdso_clock_gettime", LIBC),
        ("regente", "[.] sqlite3VdbeExec", SQLITE),
        ("regente", "[.] balance_nonroot", SQLITE),
        ("regente", "[.] aws_lc_0_42_0_sha256_block_data_order_hw", SEALING),
        (
            "regente",
            "[.] <hyper::proto::h1::role::Server as hyper::proto::h1::Http1Transaction>::encode",
            HTTP,
        ),
        (
            "regente",
            "[.] core::ptr::drop_in_place<axum::middleware::from_fn::FromFn<regente::api::track>>",
            HTTP,
        ),
        ("regente", "[.] serde_json::ser::format_escaped_str_contents", JSON),
        (
            "regente",
            "[.] regente::api::_::<impl serde_core::ser::Serialize for regente::api::View>::serialize",
            JSON,
        ),
        ("regente", "[.] <tokio::task::coop::RestoreOnPending as core::ops::drop::Drop>::drop", TOKIO),
        ("regente", "[.] regente_store::sqlite::writer::run", STORE),
        ("regente", "[.] <core::pin::Pin<P> as core::future::future::Future>::poll", REST),
    ] {
        assert_eq!(layer_of(object, symbol), layer, "{object} {symbol}");
    }
}
