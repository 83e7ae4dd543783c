//! `regente dashboard`: the members of an account, on the command line.

use crate::support::server::{Server, run_on};

#[tokio::test]
async fn members_are_invited_listed_and_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]).await;
    let base = server.url("");
    let command = async |arguments: &[&str]| {
        let arguments: Vec<&str> = ["dashboard"].iter().chain(arguments).copied().collect();
        run_on(folder.path(), &arguments).await
    };
    let invited = command(&["invite", "--email", "Rita@Example.com", "--role", "support"]).await;
    let link = invited.text().split_whitespace().find(|word| word.contains("/dashboard/invitations/"));
    let link = link.unwrap_or_else(|| panic!("{}", invited.text()));
    let path = link.strip_prefix(base.trim_end_matches('/')).unwrap_or(link);
    let open = async || {
        let page = server.http.get(server.url(path)).send().await.unwrap();
        (page.status().as_u16(), page.text().await.unwrap())
    };
    let (status, page) = open().await;
    assert!(status == 200 && page.contains("rita@example.com"), "{status} {page}");

    let listed = command(&["members"]).await;
    let row = listed.text().lines().find(|line| line.contains("rita@example.com"));
    let row: Vec<&str> = row.unwrap_or_else(|| panic!("{}", listed.text())).split_whitespace().collect();
    assert_eq!(row[1..], ["support", "invited", "rita@example.com"]);
    assert!(listed.text().contains("owner@example.com"), "{}", listed.text());

    let unknown = command(&["revoke", "--email", "nobody@example.com"]).await;
    assert!(unknown.complaint().contains("the account has no such member"), "{}", unknown.complaint());
    let wrong = command(&["invite", "--email", "ana@example.com", "--role", "king"]).await;
    assert!(wrong.stderr.contains("owner, operator, support, finance, read_only"), "{}", wrong.stderr);
    let taken = command(&["invite", "--email", "owner@example.com"]).await;
    assert!(taken.complaint().contains("the address is a member's already"), "{}", taken.complaint());
    let no_address = command(&["invite", "--email", "rita"]).await;
    assert!(no_address.complaint().contains("email must be an email"), "{}", no_address.complaint());

    let revoked = command(&["revoke", "--email", "rita@example.com"]).await;
    assert!(revoked.text().contains(row[0]), "{}", revoked.text());
    assert!(!command(&["members"]).await.text().contains("rita@example.com"));
    assert_ne!(open().await.0, 200, "the link is over");
}
