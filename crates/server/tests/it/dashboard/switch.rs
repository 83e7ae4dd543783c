//! A dashboard that is switched off is not there.

use crate::support::server::Server;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dashboard_that_is_switched_off_is_not_there() {
    for (setting, is_there) in [("dashboard.enabled=false", false), ("dashboard.enabled=true", true)] {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(folder.path(), &["--set", setting]).await;
        let status = async |path: &str| server.get(path).send().await.unwrap().status().as_u16();
        let unknown = status("/nothing-here").await;
        assert_eq!(unknown, 404);
        for path in ["/dashboard", "/dashboard/charges", "/dashboard/sign-in", "/dashboard/language"] {
            assert_eq!(status(path).await == unknown, !is_there, "{path} with {setting}");
        }
        server.stop().await;
    }
}
