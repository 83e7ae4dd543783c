//! Mail about reports: who gets it, what it says, the links in it, and servers that do not take it.

use std::collections::BTreeSet;
use std::time::Duration;

use regente::access::set_client_status;
use regente::http::rates::Rate;
use regente_domain::actor::Actor;
use regente_store::clients::ClientStatus;
use regente_store::{audit, jobs};
use serde_json::{Value, json};

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, charge_body};
use crate::support::charges::{charged, single_merchant};
use crate::support::customers::erase;
use crate::support::mail::{MailServer, opened};
use crate::support::read::text;
use crate::support::records::Records;
use crate::support::reports::{A_WHILE, REPORTS, asked, files, made, read, report_body};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

stories! {
    a_mail_brings_the_links_in_the_language_of_the_report,
    a_link_opens_its_file_and_nothing_else,
    a_link_lives_as_long_as_the_files,
    an_address_that_guesses_links_to_files_waits,
    a_server_that_refuses_for_now_is_asked_again,
    a_mail_that_is_never_taken_is_given_up,
    a_recipient_who_is_refused_for_good_is_not_asked_for_again,
    without_mail_a_report_stays_uploaded,
    only_domains_that_are_allowed_are_mailed_to,
}

/// A deployment that hands its mail over to a server, and a merchant of it with three charges.
async fn mailing(app: TestApp) -> (TestApp, MailServer) {
    let server = MailServer::start().await;
    let app = app.reachable().await.with_mail(server.options()).await;
    let app = app.with_settings(|settings| settings.report_rows_per_file = 2).await;
    let merchant = single_merchant(&app).await;
    for _ in 0..3 {
        charged(&app, &charge_body(&merchant, APPROVED)).await;
    }
    (app, server)
}

fn everything() -> Value {
    report_body("transactions", json!("all"))
}

async fn a_mail_brings_the_links_in_the_language_of_the_report(app: TestApp) {
    let (app, server) = mailing(app).await;
    let cases = [
        (
            "pt-BR",
            "Seu relatório está pronto",
            "O relatório das cobranças de 2026-02-28 21:00:00 a 2026-06-30 20:59:59 está pronto.",
        ),
        (
            "en",
            "Your report is ready",
            "The report of the charges from 2026-02-28 21:00:00 to 2026-06-30 20:59:59 is ready.",
        ),
    ];
    for (language, subject, beginning) in cases {
        let before = server.got().len();
        let report = made(&app, &everything(), &[("Accept-Language", language)]).await;
        assert_eq!(report["status"], "sent");
        let mails = server.got();
        let [mail] = &mails[before..] else { panic!("one mail") };
        assert_eq!(mail.to, "user@example.com");
        assert_eq!(mail.header("Subject"), subject);
        assert_eq!(mail.header("From"), "Regente <reports@regente.example>");
        assert_eq!(mail.header("Auto-Submitted"), "auto-generated");
        assert_eq!(mail.header("Message-ID"), format!("<report-{}@regente.example>", text(&report["id"])));
        assert_eq!(mail.header("Date").split(' ').nth(3), Some("2026"));
        assert!(mail.text().starts_with(beginning), "{}", mail.text());
        let (mut by_link, links) = (Vec::new(), mail.links());
        for (link, address) in links.iter().zip(report["files"].as_array().unwrap()) {
            assert!(link.starts_with(&format!("{}?link=", text(address))), "{link}");
            let reply = opened(&app, link).await;
            assert_eq!((reply.status.as_u16(), reply.header("content-type")), (200, Some("application/csv")));
            by_link.push(reply.bytes);
        }
        assert_eq!(read(&app, &report).await["status"], "opened");
        assert_eq!(by_link, files(&app, &report).await);
        let id = text(&report["id"]).parse().unwrap();
        let entries = audit::of_object(&app.app.store, app.client_id(), id, 10).await.unwrap();
        let done: BTreeSet<(&str, &str)> =
            entries.iter().map(|entry| (entry.action.as_str(), entry.actor.as_str())).collect();
        for entry in [("report.mailed", "job:mail_report"), ("report.fetched", "job:report_link")] {
            assert!(done.contains(&entry), "{done:?}");
        }
        app.later(DAY).await;
        assert_eq!(server.got().len(), before + 1, "no mail twice");
    }
}

async fn a_link_opens_its_file_and_nothing_else(app: TestApp) {
    let (app, server) = mailing(app).await;
    for _ in 0..2 {
        made(&app, &everything(), &[]).await;
    }
    let mails = server.got();
    let [first, second] = &mails[..] else { panic!("two mails") };
    let (links, others) = (first.links(), second.links());
    let parts = |link: &str| {
        let (address, link) = link.split_once("?link=").unwrap();
        (address.to_owned(), link.to_owned())
    };
    let ((address, link), (_, next), (_, other)) = (parts(&links[0]), parts(&links[1]), parts(&others[0]));
    assert_eq!(link.len(), 64);
    let last = if link.ends_with('A') { "B" } else { "A" };
    let tampered = format!("{}{last}", &link[..63]);
    let moved = format!("{}{}", &other[..43], &link[43..]);
    for wrong in [next.as_str(), &other, &tampered, &moved, &link[1..], "", "x"] {
        let reply = opened(&app, &format!("{address}?link={wrong}")).await;
        assert_eq!(reply.expect(403), json!({ "message": "Forbidden" }), "{wrong}");
    }
    // Without a link the key is asked for, and nothing but a file is opened by one.
    opened(&app, &address).await.expect(401);
    opened(&app, &format!("{}?link={link}", &address[..address.len() - "/files/1".len()])).await.expect(401);
    assert_eq!(app.get(REPORTS).await.expect(200)["items"][0]["status"], "sent", "nobody has opened it");
    let actor = Actor::Operator;
    set_client_status(&app.app, app.client_id(), ClientStatus::Suspended, actor).await.unwrap();
    opened(&app, &links[0]).await.expect(403);
    set_client_status(&app.app, app.client_id(), ClientStatus::Active, actor).await.unwrap();
    assert_eq!(opened(&app, &links[0]).await.status, 200);
}

async fn a_link_lives_as_long_as_the_files(app: TestApp) {
    let (app, server) = mailing(app).await;
    let records = Records { app: &app, client: &app.client };
    made(&app, &everything(), &[]).await;
    app.later(29 * DAY).await;
    made(&app, &everything(), &[]).await;
    let links: Vec<String> = server.got().iter().map(|mail| mail.links()[0].clone()).collect();
    for link in &links {
        assert_eq!(opened(&app, link).await.status, 200);
    }
    app.later(DAY).await;
    assert_eq!(opened(&app, &links[0]).await.expect(410)["error"]["message"], "File has expired");
    assert_eq!(opened(&app, &links[1]).await.status, 200);
    // Whoever is erased is in no file that a link opens.
    erase(&app, &records.customer().await).await;
    assert_eq!(opened(&app, &links[1]).await.expect(410)["error"]["message"], "File has expired");
}

async fn an_address_that_guesses_links_to_files_waits(app: TestApp) {
    let (app, server) = mailing(app).await;
    made(&app, &everything(), &[]).await;
    let app = app.with_limits(|limits| limits.rates.failed_authentications = Rate::per_minute(5)).await;
    let link = &server.got()[0].links()[0];
    for _ in 0..10 {
        assert_eq!(opened(&app, link).await.status, 200, "what is ours may be opened often");
    }
    let mut statuses = Vec::new();
    while statuses.len() < 50 && !statuses.ends_with(&[429]) {
        statuses.push(opened(&app, &link.replace("?link=", "?link=A")).await.status.as_u16());
    }
    assert!(statuses.len() > 5 && statuses.ends_with(&[403, 429]), "{statuses:?}");
}

async fn a_server_that_refuses_for_now_is_asked_again(app: TestApp) {
    let (app, server) = mailing(app).await;
    // The last one says that the sender is not welcome, which an operator can set right.
    server.say(&[451, 421, 535]);
    let report = asked(&app, &everything(), &[]).await.expect(201);
    app.later(Duration::from_secs(12)).await;
    assert_eq!(read(&app, &report).await["status"], "uploaded");
    assert_eq!((server.got().len(), server.asked()), (0, 1));
    app.later(Duration::from_secs(120)).await;
    assert_eq!(read(&app, &report).await["status"], "sent");
    assert_eq!((server.got().len(), server.asked()), (1, 4));
}

async fn a_mail_that_is_never_taken_is_given_up(app: TestApp) {
    let (app, server) = mailing(app).await;
    server.always(450);
    let report = made(&app, &everything(), &[]).await;
    app.later(3 * DAY).await;
    assert_eq!((server.got().len(), server.asked()), (0, 20));
    assert_eq!(read(&app, &report).await["status"], "uploaded");
    let dead = jobs::dead(&app.app.store, 10).await.unwrap();
    let dead = dead.iter().find(|dead| dead.key == text(&report["id"])).expect("an operator is told");
    assert_eq!(dead.kind, "mail_report");
    assert!(dead.why.contains("20 failures") && !dead.why.contains("user@example.com"), "{}", dead.why);
}

async fn a_recipient_who_is_refused_for_good_is_not_asked_for_again(app: TestApp) {
    let (app, server) = mailing(app).await;
    server.say(&[550]);
    let report = made(&app, &everything(), &[]).await;
    app.later(3 * DAY).await;
    assert_eq!(read(&app, &report).await["status"], "uploaded");
    assert_eq!((server.got().len(), server.asked()), (0, 1));
    assert_eq!(files(&app, &report).await.len(), 2, "whoever has the key fetches it");
}

async fn without_mail_a_report_stays_uploaded(app: TestApp) {
    let app = app.reachable().await;
    charged(&app, &charge_body(&single_merchant(&app).await, APPROVED)).await;
    let report = made(&app, &everything(), &[]).await;
    app.later(DAY).await;
    assert_eq!(read(&app, &report).await["status"], "uploaded");
    assert!(jobs::dead(&app.app.store, 10).await.unwrap().is_empty());
    // Mail that is switched on later does not go back to it.
    let server = MailServer::start().await;
    let app = app.with_mail(server.options()).await;
    app.later(A_WHILE).await;
    assert!(server.got().is_empty());
}

async fn only_domains_that_are_allowed_are_mailed_to(app: TestApp) {
    let (app, server) = mailing(app).await;
    let mut options = server.options();
    options.domains = vec!["example.com".to_owned(), "shop.example".to_owned()];
    let app = app.with_mail(options).await;
    let to = |address: &str| {
        let mut body = everything();
        body["sendTo"] = json!(address);
        body
    };
    let rule = ["sendTo must be an address at a domain to which this service sends mail"];
    for other in ["user@example.org", "user@sub.example.com", "user@example.com.example.org"] {
        assert_eq!(asked(&app, &to(other), &[]).await.details(400), rule, "{other}");
    }
    for allowed in ["user@example.com", "Ana@SHOP.example"] {
        assert_eq!(made(&app, &to(allowed), &[]).await["status"], "sent");
    }
    assert_eq!(server.got().len(), 2);
    assert_eq!(app.get(REPORTS).await.expect(200)["meta"]["totalItems"], 2, "what is refused is not kept");
}
