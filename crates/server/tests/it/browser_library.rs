//! The browser library and the document of its frames, as they are served; what they do in a browser is in `browsers.rs`.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use aws_lc_rs::digest::{SHA384, digest};
use axum::body::Body;
use axum::http::{Method, Request};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use regente_domain::card::{Brand, CardNumber};
use regente_engine::settings::Settings;
use regente_store::testing::TestDatabase;
use serde_json::{Value, json};

use crate::support::app::TestApp;
use crate::support::client::Reply;
use crate::support::generators::generators;

/// What every released version is, for good: pages name these hashes. Whoever changes a file makes a new version of it, and
/// serves the former one beside it.
const RELEASED: [(&str, &str); 8] = [
    ("/js/v2.1.0/regente.js", "sha384-AmwALDvXTQy5fjPeQfGq0AjSR9KOblvrYQXnxMJpeXdcwnhFIW0E2VfL7ANmFKPO"),
    ("/js/v2.1.0/regente.mjs", "sha384-8X+gfurHNF+5bP/aZRXho9U9XkvpEUubCuunVLNi/uRmRbPJV9B2YB0bnRZJlcNm"),
    ("/js/v1.1.0/v1.js", "sha384-Zfb7I3y0+SO9BYN6h/lyKTNfxN4T+XXDwlY/j1y0oZBV40Fbc95HPpA3vzP6XC12"),
    ("/js/v1.1.0/v1.mjs", "sha384-0tJViNs7ffzAhaEyXdTAsn4nT3cB8N7GqA7GPhPnUrG618lAZiIXsJXFQIHHC4yc"),
    ("/js/v2.0.0/regente.js", "sha384-4lCnYREqMTzclBg36K6pnWwIJ5ebk5SLuLkAT8a/fPya/ybd4t3Bn5fPY/TtNEbl"),
    ("/js/v2.0.0/regente.mjs", "sha384-L0n3CBC+n93d8a/PHDbV1T8YWn89v5OOFtHkrfNORopFRH+UItlEp00H2R4TsKrY"),
    ("/js/v1.0.0/v1.js", "sha384-RhFHlD2MuP93tlxdRrEGXMEShSyyGqKq2BIn+sZ02ETB2KlejzlvZkb+GQkrZRLd"),
    ("/js/v1.0.0/v1.mjs", "sha384-+TSZb1FfrJpffc8ttlxiFYFHpwwZK8o5+ZVkg1wOXXplJ3pdn1EcaXXTGKnH5PXh"),
];

/// The most bytes that a frame loads, compressed.
const FRAME_BYTES_MAX: usize = 15_000;

fn integrity(bytes: &[u8]) -> String {
    format!("sha384-{}", STANDARD.encode(digest(&SHA384, bytes)))
}

async fn get(app: &TestApp, path: &str, headers: &[(&str, &str)]) -> Reply {
    let mut request = Request::builder().method(Method::GET).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    app.send(request.body(Body::empty()).unwrap()).await
}

async fn app() -> TestApp {
    TestApp::on(TestDatabase::fresh_sqlite(), Settings::default()).await
}

fn unpacked(reply: &Reply) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(&*reply.bytes).read_to_end(&mut bytes).unwrap();
    bytes
}

#[tokio::test]
async fn every_script_is_served_for_good_and_listed_with_its_hash() {
    let app = app().await;
    let list: Value = serde_json::from_slice(&get(&app, "/js/manifest.json", &[]).await.bytes).unwrap();
    let listed = |path: &str| {
        let scripts = list["scripts"].as_array().unwrap();
        scripts.iter().find(|script| script["path"] == path).expect("it is in the list").clone()
    };
    let document = String::from_utf8(get(&app, "/fields/", &[]).await.bytes.to_vec()).unwrap();
    let of_fields = document.split_once("src=\"").unwrap().1.split_once('"').unwrap().0;
    for path in RELEASED.iter().map(|(path, _)| *path).chain([of_fields]) {
        let reply = get(&app, path, &[]).await;
        assert_eq!(reply.status, 200, "{path}");
        assert_eq!(listed(path)["integrity"], integrity(&reply.bytes), "{path}");
        assert_eq!(listed(path)["bytes"], reply.bytes.len(), "{path}");
        for (name, value) in [
            ("cache-control", "public, max-age=31536000, immutable"),
            ("access-control-allow-origin", "*"),
            ("cross-origin-resource-policy", "cross-origin"),
            ("x-content-type-options", "nosniff"),
            ("content-type", "text/javascript; charset=utf-8"),
            ("vary", "accept-encoding"),
        ] {
            assert_eq!(reply.header(name), Some(value), "{path}");
        }
        assert_eq!(reply.header("content-encoding"), None, "{path}");
        let packed = get(&app, path, &[("accept-encoding", "br, gzip;q=0.8")]).await;
        assert_eq!(packed.header("content-encoding"), Some("gzip"), "{path}");
        assert_eq!(unpacked(&packed), &*reply.bytes, "{path}");
        let refused = get(&app, path, &[("accept-encoding", "gzip;q=0")]).await;
        assert_eq!(refused.header("content-encoding"), None, "{path}");
    }
    for (path, hash) in RELEASED {
        assert_eq!(listed(path)["integrity"], hash, "{path} was released: serve the change as a new version");
    }
    assert!(document.contains(listed(of_fields)["integrity"].as_str().unwrap()), "{document}");
    let script = get(&app, of_fields, &[("accept-encoding", "gzip")]).await;
    let bytes = document.len() + script.bytes.len();
    assert!(bytes < FRAME_BYTES_MAX, "a frame loads {bytes} bytes");
}

#[tokio::test]
async fn the_document_of_the_fields_may_stand_in_any_page_and_loads_nothing_else() {
    let app = app().await;
    let reply = get(&app, "/fields/", &[]).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("x-frame-options"), None);
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    let policy = reply.header("content-security-policy").unwrap();
    for part in ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors *"] {
        assert!(policy.split("; ").any(|stated| stated == part), "{part}: {policy}");
    }
    assert!(!policy.contains("unsafe-"), "{policy}");
    assert_eq!(get(&app, "/", &[]).await.status, 404, "there is no origin for the fields alone");
}

#[tokio::test]
async fn a_browser_at_the_root_is_led_to_the_documentation() {
    let app = app().await;
    let browser = [("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")];
    let reply = get(&app, "/", &browser).await;
    assert_eq!((reply.status.as_u16(), reply.header("location")), (303, Some("/docs")));
    assert_eq!(
        get(&app, "/", &[("accept", "*/*")]).await.status,
        404,
        "a program is told that nothing is there"
    );
    assert_eq!(get(&app, "/nothing", &browser).await.status, 404);
}

fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/js")
}

/// What a program says that succeeds.
fn said_by(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{command:?}: {said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

#[test]
fn the_package_is_usable_as_it_is_packed() {
    let place = generators();
    let folder = tempfile::tempdir_in(&place).unwrap();
    let home = folder.path();
    let mut pack = Command::new("npm");
    pack.args(["pack", "--json", "--pack-destination"]).arg(home).current_dir(clients());
    let packed: Value = serde_json::from_str(&said_by(&mut pack)).unwrap();
    let packed = &packed[0];
    assert_eq!((&packed["name"], &packed["version"]), (&json!("@regente/browser"), &json!("2.1.0")));
    let mut files: Vec<&str> =
        packed["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    files.sort_unstable();
    assert_eq!(
        files,
        [
            "LICENSE",
            "README.md",
            "package.json",
            "regente.d.mts",
            "regente.d.ts",
            "regente.js",
            "regente.mjs",
            "v1.d.mts",
            "v1.d.ts",
            "v1.js",
            "v1.mjs",
        ]
    );
    let package: Value =
        serde_json::from_slice(&std::fs::read(clients().join("package.json")).unwrap()).unwrap();
    for dependencies in ["dependencies", "peerDependencies", "scripts"] {
        assert_eq!(package[dependencies], Value::Null, "{dependencies}");
    }
    let installed = home.join("node_modules/@regente/browser");
    std::fs::create_dir_all(&installed).unwrap();
    let archive = home.join(packed["filename"].as_str().unwrap());
    said_by(
        Command::new("tar").args(["--strip-components=1", "-xzf"]).arg(archive).arg("-C").arg(&installed),
    );
    for program in ["library.mts", "library.cts"] {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browsers").join(program);
        std::fs::copy(source, home.join(program)).unwrap();
    }
    let options = ["--strict", "--module", "nodenext", "--target", "es2022", "--lib", "es2022,dom"];
    let tsc = place.join("node_modules/.bin/tsc");
    said_by(Command::new(tsc).args(options).args(["library.mts", "library.cts"]).current_dir(home));
    for program in ["library.mjs", "library.cjs"] {
        // A page that is rendered on a server loads the library there.
        assert_eq!(said_by(Command::new("node").arg(program).current_dir(home)), "function\n", "{program}");
    }
}

/// Existing pages name the constructor as their brand did; one that is a module finds the service, too.
#[test]
fn the_library_goes_by_the_names_that_pages_have() {
    for file in ["regente", "v1"] {
        let folder = tempfile::tempdir().unwrap();
        // A folder like the path at which it is served.
        let place = folder.path().join("js/v9.9.9");
        std::fs::create_dir_all(&place).unwrap();
        for name in [format!("{file}.js"), format!("{file}.mjs")] {
            std::fs::copy(clients().join(&name), place.join(&name)).unwrap();
        }
        let script = format!(
            "require('./{file}.js'); const own = RegenteTokenization;
            import('./{file}.mjs').then((library) => console.log(
                [MalgaTokenization, PlugTokenization, ...Object.values(library)].every((name) => name === own),
                Object.keys(library).sort().join(' ')))"
        );
        let told = said_by(Command::new("node").args(["-e", &script]).current_dir(&place));
        assert_eq!(told, "true MalgaTokenization PlugTokenization RegenteTokenization\n", "{file}");
    }
}

#[test]
fn the_fields_know_the_brands_that_the_service_knows() {
    let script = "const text = fs.readFileSync(process.argv[1], 'utf8');
        const { brandOf, BRANDS } = new Function(text + '; return { brandOf, BRANDS }')();
        let last;
        for (let bin = 0; bin < 1e6; bin++) {
            const type = brandOf(String(bin).padStart(6, '0'))?.niceType ?? 'Unknown';
            if (type !== last) console.log(bin + ' ' + type);
            last = type;
        }";
    let told = said_by(Command::new("node").args(["-e", script]).arg(clients().join("fields/cards.js")));
    let mut expected = String::new();
    let mut last = "";
    for bin in 0..1_000_000_u32 {
        let name = brand_of(bin);
        if name != last {
            expected.push_str(&format!("{bin} {name}\n"));
        }
        last = name;
    }
    assert_eq!(told.replace("Diners Club", "Diners"), expected);
}

/// The brand of the cards whose numbers begin with these six digits.
fn brand_of(bin: u32) -> &'static str {
    let number = (0..10).find_map(|digit| CardNumber::parse(&format!("{bin:06}000000000{digit}")).ok());
    number.unwrap().brand().map_or(Brand::UNKNOWN, Brand::name)
}
