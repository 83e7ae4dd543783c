//! People: invitations, signing in, members and their ends.

mod matrix;
mod visitor;

use std::time::Duration;

use regente::http::peer::Proxies;
use regente_domain::actor::Actor;
use regente_domain::id::MemberId;
use regente_domain::member::role::Role;
use regente_engine::audit::Author;
use regente_engine::members::{self, invitations};
use regente_store::audit;
use serde_json::json;

use crate::support::app::{TestApp, stories};
use crate::support::bodies::{APPROVED, Charge};
use crate::support::charges::{charged, single_merchant};
use crate::support::client::Reply;
use crate::support::read::text;
use visitor::{PASSWORD, Person, Visitor, between, path_of};

stories! {
    an_owner_invites_a_support_colleague_who_may_refund_and_no_more,
    a_revoked_member_is_refused_at_the_next_request,
    a_revoked_sign_in_is_refused_at_the_next_request,
    a_sign_in_ends_by_itself,
    whatever_is_wrong_is_answered_alike_and_limited_by_address,
    an_invitation_works_once_and_for_three_days,
    a_code_and_a_recovery_code_work_once,
    a_cookie_that_was_planted_signs_nobody_in,
    a_form_of_another_site_is_refused,
    a_member_of_another_account_is_not_found,
    the_last_owner_is_not_revoked,
    a_sandbox_signs_its_owner_in_by_a_link_once,
}

const STEP: Duration = Duration::from_secs(30);
const HOUR: Duration = Duration::from_secs(60 * 60);

async fn behind_a_proxy(app: TestApp) -> TestApp {
    app.with_limits(|limits| limits.proxies = Proxies::new(vec!["127.0.0.1/32".parse().unwrap()])).await
}

fn pass(app: &TestApp, time: Duration) {
    app.clock.set(app.clock.deployment() + time);
}

/// Invites by the function of the command line.
async fn invited(app: &TestApp, email: &str, role: Role) -> String {
    let author = Author::operator(app.client_id());
    let invitation = invitations::invite(&app.app, author, email, role).await.unwrap();
    format!("/dashboard/invitations/{}", invitation.token)
}

/// A member, in a browser that is signed in.
async fn member<'a>(app: &'a TestApp, email: &'static str, role: Role) -> (Visitor<'a>, Person) {
    let visitor = Visitor::new(app);
    let person = visitor.accept(&invited(app, email, role).await, email).await;
    pass(app, STEP);
    (visitor, person)
}

async fn id_of(app: &TestApp, email: &str) -> MemberId {
    let members = members::list(&app.app, app.client_id()).await.unwrap();
    members.iter().find(|member| member.email == email).unwrap().id
}

#[track_caller]
fn leads_to(reply: &Reply, path: &str) {
    assert_eq!((reply.status.as_u16(), reply.header("location")), (303, Some(path)));
}

async fn is_signed_out(visitor: &Visitor<'_>) {
    leads_to(&visitor.get("/dashboard/sign-ins").await, "/dashboard/sign-in?next=%2Fdashboard%2Fsign-ins");
}

async fn an_owner_invites_a_support_colleague_who_may_refund_and_no_more(app: TestApp) {
    let app = behind_a_proxy(app).await;
    let merchant = single_merchant(&app).await;
    let charge = charged(&app, &Charge::by_card(&merchant, APPROVED).amount(1500).body()).await;
    let (first, owner) = member(&app, "owner@example.com", Role::Owner).await;
    // The acceptance has signed her in; another browser has to be signed in.
    assert!(first.page("/dashboard/members").await.contains("owner@example.com"));
    let browser = Visitor::new(&app);
    is_signed_out(&browser).await;
    leads_to(&browser.sign_in(&owner).await, "/dashboard");
    let csrf = browser.csrf().await;
    let fields = [("csrf", csrf.as_str()), ("email", "sup@example.com"), ("role", "support")];
    let reply = browser.post("/dashboard/members", &fields).await;
    let page = String::from_utf8(reply.bytes).unwrap();
    let link = between(&page, "<a href=\"/dashboard/invitations/", "\"");
    let colleague = Visitor::at(&app, "198.51.100.2");
    let link = format!("/dashboard/invitations/{link}");
    let person = colleague.accept(&link, "sup@example.com").await;
    pass(&app, STEP);
    leads_to(&colleague.sign_in(&person).await, "/dashboard");
    let id = text(&charge["id"]);
    assert!(colleague.page(&format!("/dashboard/charges/{id}")).await.contains(id));
    assert_eq!(colleague.get("/dashboard/members").await.status, 403);
    let csrf = colleague.csrf().await;
    let fields = [("csrf", csrf.as_str()), ("email", "x@example.com"), ("role", "owner")];
    assert_eq!(colleague.post("/dashboard/members", &fields).await.status, 403);
    let trail =
        audit::of_object(&app.app.store, app.client_id(), id_of(&app, "sup@example.com").await.uuid(), 9);
    let trail = trail.await.unwrap();
    let said: Vec<(&str, &str)> =
        trail.iter().rev().map(|entry| (entry.action.as_str(), entry.actor.as_str())).collect();
    let (owner, own) = (id_of(&app, "owner@example.com").await, id_of(&app, "sup@example.com").await);
    let (owner, own) = (Actor::Member(owner).to_string(), Actor::Member(own).to_string());
    let expected = [("member.invited", &owner), ("member.accepted", &own), ("member.signed_in", &own)];
    assert_eq!(said, expected.map(|(action, actor)| (action, actor.as_str())));
}

async fn a_revoked_member_is_refused_at_the_next_request(app: TestApp) {
    let app = behind_a_proxy(app).await;
    let (owner, _) = member(&app, "owner@example.com", Role::Owner).await;
    let (colleague, person) = member(&app, "sup@example.com", Role::Support).await;
    colleague.page("/dashboard/sign-ins").await;
    let id = id_of(&app, "sup@example.com").await;
    let csrf = owner.csrf().await;
    assert!(owner.page(&format!("/dashboard/members/{id}/revoke")).await.contains("sup@example.com"));
    leads_to(
        &owner.post(&format!("/dashboard/members/{id}/revoke"), &[("csrf", &csrf)]).await,
        "/dashboard/members",
    );
    is_signed_out(&colleague).await;
    assert_eq!(colleague.sign_in(&person).await.status, 403);
    // The address is free again.
    member(&app, "sup@example.com", Role::Finance).await;
}

async fn a_revoked_sign_in_is_refused_at_the_next_request(app: TestApp) {
    let app = behind_a_proxy(app).await;
    let (one, person) = member(&app, "owner@example.com", Role::Owner).await;
    let other = Visitor::new(&app);
    leads_to(&other.sign_in(&person).await, "/dashboard");
    let page = other.page("/dashboard/sign-ins").await;
    assert!(page.contains("Firefox, Linux") && page.contains("This browser"), "{page}");
    let end = between(&page, "action=\"/dashboard/sign-ins/", "\"");
    let csrf = other.csrf().await;
    let ended = other.post(&format!("/dashboard/sign-ins/{end}"), &[("csrf", &csrf)]).await;
    leads_to(&ended, "/dashboard/sign-ins");
    is_signed_out(&one).await;
    leads_to(&other.post("/dashboard/sign-out", &[("csrf", &csrf)]).await, "/dashboard/sign-in");
    assert_eq!(other.cookie(), None);
    is_signed_out(&other).await;
}

async fn a_sign_in_ends_by_itself(app: TestApp) {
    let app = behind_a_proxy(app).await;
    let (browser, person) = member(&app, "owner@example.com", Role::Owner).await;
    pass(&app, HOUR / 2 - STEP - STEP);
    browser.page("/dashboard/sign-ins").await;
    pass(&app, HOUR / 2 - STEP);
    // It was seen in between.
    browser.page("/dashboard/sign-ins").await;
    pass(&app, HOUR / 2);
    is_signed_out(&browser).await;
    leads_to(&browser.sign_in(&person).await, "/dashboard");
    for _ in 0..35 {
        browser.page("/dashboard/sign-ins").await;
        pass(&app, HOUR / 3);
    }
    browser.page("/dashboard/sign-ins").await;
    pass(&app, HOUR / 3);
    is_signed_out(&browser).await;
}

async fn whatever_is_wrong_is_answered_alike_and_limited_by_address(app: TestApp) {
    let app = behind_a_proxy(app).await;
    let (_, person) = member(&app, "owner@example.com", Role::Owner).await;
    let stranger = Visitor::at(&app, "203.0.113.9");
    let code = person.phone.code_at(app.clock.deployment());
    let attempts = [
        (person.email, "a wrong password", code.as_str()),
        (person.email, PASSWORD, "000000"),
        ("nobody@example.com", PASSWORD, code.as_str()),
    ];
    let mut pages = Vec::new();
    for (email, password, code) in attempts {
        let reply = stranger.sign_in_with(email, password, code).await;
        assert_eq!((reply.status.as_u16(), reply.header("set-cookie")), (403, None));
        pages.push(String::from_utf8(reply.bytes).unwrap().replace(email, ""));
    }
    assert!(pages.iter().all(|page| *page == pages[0]), "{pages:#?}");
    for _ in 0..4 {
        stranger.sign_in_with(person.email, "a wrong password", &code).await;
    }
    let refused = stranger.sign_in(&person).await;
    assert_eq!(refused.status, 429);
    assert!(refused.header("retry-after").is_some());
    let elsewhere = Visitor::at(&app, "198.51.100.7");
    leads_to(&elsewhere.sign_in(&person).await, "/dashboard");
}

async fn an_invitation_works_once_and_for_three_days(app: TestApp) {
    let app = behind_a_proxy(app).await;
    let visitor = Visitor::new(&app);
    let link = invited(&app, "one@example.com", Role::Owner).await;
    let short = [("name", "Ana"), ("password", "too short"), ("code", "123456")];
    assert_eq!(visitor.post(&link, &short).await.status, 400);
    let wrong = [("name", "Ana"), ("password", PASSWORD), ("code", "000000")];
    assert_eq!(visitor.post(&link, &wrong).await.status, 400);
    visitor.accept(&link, "one@example.com").await;
    let again = Visitor::new(&app);
    assert_eq!(again.get(&link).await.status, 404);
    assert_eq!(again.post(&link, &wrong).await.status, 404);
    let late = invited(&app, "two@example.com", Role::Support).await;
    pass(&app, 72 * HOUR - STEP);
    assert_eq!(again.get(&late).await.status, 200);
    pass(&app, STEP);
    assert_eq!(again.get(&late).await.status, 404);
    // A new one takes the place of the former.
    let first = invited(&app, "two@example.com", Role::Support).await;
    let second = invited(&app, "two@example.com", Role::Support).await;
    assert_eq!(again.get(&first).await.status, 404);
    again.accept(&second, "two@example.com").await;
    let author = Author::operator(app.client_id());
    let taken = invitations::invite(&app.app, author, " Two@example.com", Role::Owner).await;
    assert!(matches!(taken, Err(regente_engine::error::Error::Conflict { .. })), "{taken:?}");
}

async fn a_code_and_a_recovery_code_work_once(app: TestApp) {
    let app = behind_a_proxy(app).await;
    let (browser, person) = member(&app, "owner@example.com", Role::Owner).await;
    leads_to(&browser.sign_in(&person).await, "/dashboard");
    assert_eq!(browser.sign_in(&person).await.status, 403);
    let recovery = person.recovery[0].to_lowercase();
    leads_to(&browser.sign_in_with(person.email, PASSWORD, &recovery).await, "/dashboard");
    assert_eq!(browser.sign_in_with(person.email, PASSWORD, &recovery).await.status, 403);
    leads_to(&browser.sign_in_with(person.email, PASSWORD, &person.recovery[7]).await, "/dashboard");
    // A phone's clock may be half a minute ahead or behind.
    let ahead = person.phone.code_at(app.clock.deployment() + STEP);
    leads_to(&browser.sign_in_with(person.email, PASSWORD, &ahead).await, "/dashboard");
}

async fn a_cookie_that_was_planted_signs_nobody_in(app: TestApp) {
    let app = behind_a_proxy(app).await;
    let (known, person) = member(&app, "owner@example.com", Role::Owner).await;
    let planted = format!("{}.{}", app.client.id, "A".repeat(43));
    let browser = Visitor::new(&app).with_cookie(&planted);
    is_signed_out(&browser).await;
    leads_to(&browser.sign_in(&person).await, "/dashboard");
    let cookie = browser.cookie().unwrap();
    assert!(cookie != planted && Some(&cookie) != known.cookie().as_ref());
    is_signed_out(&Visitor::new(&app).with_cookie(&planted)).await;
    let other = app.another_client().await;
    let moved = format!("{}.{}", other.id, cookie.split_once('.').unwrap().1);
    is_signed_out(&Visitor::new(&app).with_cookie(&moved)).await;
    // Only pages of ours are led on to.
    let elsewhere =
        ["https://evil.example/dashboard", "//evil.example", "/dashboardx", "/dashboard\\@evil.example"];
    for (next, code) in elsewhere.into_iter().zip(&person.recovery) {
        let fields = [("email", person.email), ("password", PASSWORD), ("code", code), ("next", next)];
        leads_to(&browser.post("/dashboard/sign-in", &fields).await, "/dashboard");
    }
    let fields = [
        ("email", person.email),
        ("password", PASSWORD),
        ("code", &person.recovery[5]),
        ("next", "/dashboard/charges?page=2"),
    ];
    leads_to(&browser.post("/dashboard/sign-in", &fields).await, "/dashboard/charges?page=2");
}

async fn a_form_of_another_site_is_refused(app: TestApp) {
    let app = behind_a_proxy(app).await;
    let (owner, _) = member(&app, "owner@example.com", Role::Owner).await;
    let csrf = owner.csrf().await;
    let invite = |csrf: &'static str| [("csrf", csrf), ("email", "x@example.com"), ("role", "support")];
    let csrf: &'static str = Box::leak(csrf.into_boxed_str());
    assert_eq!(owner.post("/dashboard/members", &invite("")).await.status, 403);
    assert_eq!(owner.post("/dashboard/members", &invite("00")).await.status, 403);
    for headers in [
        [("Sec-Fetch-Site", "cross-site")],
        [("Sec-Fetch-Site", "same-site")],
        [("Origin", "https://evil.example")],
        [("Origin", "null")],
    ] {
        assert_eq!(owner.post_with("/dashboard/members", &headers, &invite(csrf)).await.status, 403);
        let sign_in = [("email", "owner@example.com"), ("password", PASSWORD), ("code", "000000")];
        let reply = owner.post_with("/dashboard/sign-in", &headers, &sign_in).await;
        assert!(reply.bytes.is_empty(), "the form is not read");
    }
    let own = [("Origin", "https://regente.example"), ("Sec-Fetch-Site", "same-origin")];
    assert_eq!(owner.post_with("/dashboard/members", &own, &invite(csrf)).await.status, 200);
    // A page without a session is led to the sign-in; a form is not.
    assert_eq!(Visitor::new(&app).post("/dashboard/members", &invite(csrf)).await.status, 403);
}

async fn a_member_of_another_account_is_not_found(app: TestApp) {
    let app = behind_a_proxy(app).await;
    let (owner, _) = member(&app, "owner@example.com", Role::Owner).await;
    let merchant = single_merchant(&app).await;
    let charge = charged(&app, &Charge::by_card(&merchant, APPROVED).amount(1500).body()).await;
    let other = app.another_client().await;
    let author = Author::operator(other.id.parse().unwrap());
    let invitation = invitations::invite(&app.app, author, "other@example.com", Role::Owner).await.unwrap();
    let stranger = Visitor::new(&app);
    let link = format!("/dashboard/invitations/{}", invitation.token);
    stranger.accept(&link, "other@example.com").await;
    let csrf = stranger.csrf().await;
    let own = id_of(&app, "owner@example.com").await;
    assert_eq!(stranger.get(&format!("/dashboard/members/{own}/revoke")).await.status, 404);
    let revoked = stranger.post(&format!("/dashboard/members/{own}/revoke"), &[("csrf", &csrf)]).await;
    assert_eq!(revoked.status, 404);
    let page = owner.page("/dashboard/sign-ins").await;
    assert!(!page.contains("other@example.com"));
    let id = text(&charge["id"]);
    assert_eq!(stranger.get(&format!("/dashboard/charges/{id}")).await.status, 404);
    let sign_in = members::sign_ins::list(&app.app, &who(&app, &owner).await).await.unwrap()[0].id;
    let ended = stranger.post(&format!("/dashboard/sign-ins/{sign_in}/end"), &[("csrf", &csrf)]).await;
    assert_eq!(ended.status, 404);
    owner.page("/dashboard/sign-ins").await;
}

async fn who(app: &TestApp, visitor: &Visitor<'_>) -> members::SignedIn {
    let cookie = members::sign_in::Cookie::parse(&visitor.cookie().unwrap()).unwrap();
    members::sign_ins::find(&app.app, &cookie).await.unwrap().unwrap()
}

async fn the_last_owner_is_not_revoked(app: TestApp) {
    let app = behind_a_proxy(app).await;
    let (owner, _) = member(&app, "owner@example.com", Role::Owner).await;
    let own = id_of(&app, "owner@example.com").await;
    let (path, csrf) = (format!("/dashboard/members/{own}/revoke"), owner.csrf().await);
    assert_eq!(owner.post(&path, &[("csrf", &csrf)]).await.status, 409);
    member(&app, "second@example.com", Role::Owner).await;
    leads_to(&owner.post(&path, &[("csrf", &csrf)]).await, "/dashboard/members");
    is_signed_out(&owner).await;
}

async fn a_sandbox_signs_its_owner_in_by_a_link_once(app: TestApp) {
    let app = behind_a_proxy(app).await;
    let link = async || {
        let token = invitations::sandbox_link(&app.app, app.client_id(), "owner@example.com", "Owner").await;
        format!("/dashboard/sign-in/{}", token.unwrap())
    };
    let (former, latter) = (link().await, link().await);
    let browser = Visitor::new(&app);
    leads_to(&browser.get(&former).await, "/dashboard/sign-in");
    leads_to(&browser.get(path_of(&latter)).await, "/dashboard");
    assert!(browser.page("/dashboard/members").await.contains("owner@example.com"));
    leads_to(&Visitor::new(&app).get(&latter).await, "/dashboard/sign-in");
    // Without a password nobody signs in otherwise.
    let reply = Visitor::new(&app).sign_in_with("owner@example.com", "", "").await;
    assert_eq!((reply.status.as_u16(), json!(reply.header("set-cookie"))), (403, json!(null)));
}
