//! Signatures: the published vectors, in both formats.

use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use regente_domain::time::Timestamp;
use regente_engine::deliveries::signature::{SigningKey, headers, to_pem};

#[test]
fn what_receivers_check_is_what_is_signed() {
    let vectors = [
        (
            "S8O+o7Cqd3mtpriJvOVK/cdo8se5VU5vZkCMUttd0WA=",
            1_661_795_163_719,
            r#"{"event":"ping","payload":{"object":{}}}"#,
            "5b20c43cfd55f0c1884196786d58392e1828232e05d66e9153032ae9d374bff785d0efc4ed850ea5856b71c950bd2a1914f376381386355fce2c51163ed26e01",
        ),
        (
            "rBCknsoGmHt5uJG2y30TBCZqDE6eW6Jnpa5XrBj9Kro=",
            1_660_174_504_702_i64,
            "this is a test with utf32 char これはテストです",
            "eb29829fdd6a01f0e78836c9f63ec4a8bc1647cc2e973ba6a9bb3508aafbbe4d9c1ff54516cc5fb39396a001d23b84fb3bc876895511e1bfafb062812d40eb0b",
        ),
    ];
    for (key, date, body, signature) in vectors {
        let key = STANDARD.decode(key).unwrap();
        let verify = |date: i64, body: &str| {
            let message = format!("{date}\n{body}");
            UnparsedPublicKey::new(&ED25519, &key)
                .verify(message.as_bytes(), &hex::decode(signature).unwrap())
        };
        verify(date, body).unwrap();
        assert!(verify(date + 1, body).is_err() && verify(date, &format!("{body} ")).is_err());
    }
}

#[test]
fn the_dated_signature_is_that_of_the_published_vector() {
    let seed = hex::decode("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60").unwrap();
    let key = SigningKey::from_seed(&seed).unwrap();
    assert_eq!(
        to_pem(&key.public()),
        "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n"
    );
    let body = r#"{"id":"5616b19e-4d99-4bd3-b415-4990e5cab4f4","apiVersion":"1.1","object":"transaction","event":"authorized","createdAt":"2026-01-01T00:00:00.000Z","data":{"id":"242b9be8-cd60-461d-af27-f31e3d6e3fb7","statementDescriptor":"LOJA JOÃO"}}"#;
    assert_eq!(
        key.sign_dated(Timestamp::from_millis(1_767_225_600_000), body.as_bytes()),
        "d6aff1cbb5861bfcdaebdb2a37724503b43252913533c7482a374d5405a95cb436af210d97a1332711809cee673648ffcf97f42c53448a6f1fd6ffaecd7cf80f"
    );
}

#[test]
fn the_standard_signature_is_that_of_the_published_vector() {
    let secret = "6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==";
    let secret = STANDARD.decode(secret).unwrap();
    let key = SigningKey::from_seed(&secret[..32]).unwrap();
    assert_eq!(key.public().as_slice(), &secret[32..]);
    let signed = key.sign_standard(
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        Timestamp::from_millis(1_614_265_330_000),
        br#"{"test": 2432232314}"#,
    );
    assert_eq!(
        signed,
        "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg=="
    );
}

#[test]
fn while_a_key_is_replaced_both_sign() {
    let (old, new) = (SigningKey::from_seed(&[1; 32]).unwrap(), SigningKey::from_seed(&[2; 32]).unwrap());
    let (at, id) = (Timestamp::from_millis(1_767_225_600_999), uuid::Uuid::from_u128(7));
    let header = |next: Option<&SigningKey>, name: &str| {
        let headers = headers(id, at, b"{}", &old, next);
        headers.into_iter().find(|(known, _)| *known == name).unwrap().1
    };
    let both = header(Some(&new), "webhook-signature");
    let each: Vec<&str> = both.split(' ').collect();
    let id = id.to_string();
    assert_eq!(each, [old.sign_standard(&id, at, b"{}"), new.sign_standard(&id, at, b"{}")]);
    assert_eq!(header(None, "webhook-signature"), each[0]);
    assert_eq!(header(Some(&new), "x-plug-signature"), old.sign_dated(at, b"{}"));
    assert_eq!(header(None, "webhook-timestamp"), "1767225600", "whole seconds, cut and not rounded");
    assert_eq!(header(None, "x-plug-date"), "1767225600999");
}

#[test]
fn no_other_bytes_are_a_key() {
    for length in [0, 31, 33, 64] {
        assert!(SigningKey::from_seed(&vec![1; length]).is_err(), "{length}");
    }
}
