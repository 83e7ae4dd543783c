//! Messages to the simulator in another process. A call that is read and sent on is read to the same call.

#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use regente_providers::sandbox::http::{
    CallMessage, CardholderMessage, InquiryMessage, RiskMessage, SellerMessage, StagedMessage,
};

fuzz_target!(|data: &[u8]| {
    if let Ok((call, _)) = CallMessage::read(data) {
        let sent = serde_json::to_vec(&CallMessage::of(&call)).expect("it is written");
        let (again, _) = CallMessage::read(&sent).expect("what is sent can be read");
        assert_eq!(sent, serde_json::to_vec(&CallMessage::of(&again)).expect("it is written"));
    }
    let _ = InquiryMessage::read(data);
    let _ = StagedMessage::read(data);
    let _ = SellerMessage::read(data);
    let _ = CardholderMessage::read(data);
    let _ = RiskMessage::read(data);
});

fuzz_mutator!(|data: &mut [u8], size: usize, size_max: usize, seed: u32| {
    regente_fuzz::json::mutate(data, size, size_max, seed, 0)
});
