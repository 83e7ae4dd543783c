//! What goes wrong, drawn from a seed: one table.

use super::books::Face;

/// A random generator of our own, so that no library update changes what a seed draws: splitmix64.
#[derive(Clone, Debug)]
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::try_from(self.below(from.len() as u64)).unwrap()]
    }
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Authorize,
    Capture,
    /// A cancellation or a refund.
    Void,
    Read,
}

impl Operation {
    pub const fn changes(self) -> bool {
        match self {
            Self::Authorize | Self::Capture | Self::Void => true,
            Self::Read => false,
        }
    }
}

/// What goes wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    /// It is answered late.
    Late,
    /// The connection is lost before the request arrives, or after it was carried out.
    LostBefore,
    LostAfter,
    /// Somebody in between answers with a page of their own: instead of the provider, or instead of its answer.
    PageBefore(u16),
    PageAfter(u16),
    /// There are too many requests: it was not looked at.
    TooMany,
    /// It was carried out, and the provider answers with a fault of its own.
    Broken(u16),
    /// The network repeats it.
    Twice,
    /// `PAGARME_V5`: an order is answered `failed`, `with_error`, whatever the acquirer did; a minute later it says the truth.
    Denies,
    /// `PAGARME_V5`: what was to be captured at once is reserved, and decided later.
    Undecided,
    /// It is approved or captured, and the provider takes its word back later.
    Retracts,
}

/// Whether a request is carried out.
pub enum When {
    Before,
    After,
}

impl Fault {
    pub const fn when(self) -> When {
        match self {
            Self::LostBefore | Self::PageBefore(_) | Self::TooMany => When::Before,
            Self::None
            | Self::Late
            | Self::LostAfter
            | Self::PageAfter(_)
            | Self::Broken(_)
            | Self::Twice
            | Self::Denies
            | Self::Undecided
            | Self::Retracts => When::After,
        }
    }
}

use Operation::{Authorize, Capture, Read, Void};

/// Each fault: of a thousand requests of these operations, at these faces, so many meet it.
type Row = (Fault, u64, &'static [Operation], &'static [Face]);

const ALL: &[Operation] = &[Authorize, Capture, Void, Read];
const CHANGES: &[Operation] = &[Authorize, Capture, Void];

/// The faults of life.
const LIFE: &[Row] = &[
    (Fault::Late, 40, CHANGES, Face::ALL),
    (Fault::LostBefore, 30, ALL, Face::ALL),
    (Fault::LostAfter, 50, CHANGES, Face::ALL),
    (Fault::PageBefore(502), 15, ALL, Face::ALL),
    (Fault::PageAfter(502), 20, CHANGES, Face::ALL),
    (Fault::PageAfter(504), 20, CHANGES, Face::ALL),
    (Fault::TooMany, 25, ALL, Face::ALL),
    (Fault::Broken(500), 20, CHANGES, Face::ALL),
    (Fault::Broken(503), 20, CHANGES, Face::ALL),
    (Fault::Twice, 30, CHANGES, Face::ALL),
    (Fault::PageBefore(403), 15, ALL, Face::ALL),
    (Fault::PageAfter(403), 20, CHANGES, Face::ALL),
    (Fault::PageAfter(400), 20, CHANGES, Face::ALL),
    (Fault::Denies, 60, &[Authorize], &[Face::PagarmeV5]),
    (Fault::Undecided, 90, &[Authorize], &[Face::PagarmeV5]),
    (Fault::Retracts, 220, &[Authorize], &[Face::Adyen, Face::PagarmeV5]),
    (Fault::Retracts, 500, &[Capture], &[Face::Adyen]),
];

/// All faults.
pub fn all() -> impl Iterator<Item = Fault> {
    LIFE.iter().map(|(fault, ..)| *fault)
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Nothing.
    Calm,
    /// All of it.
    Life,
}

impl Plan {
    pub fn draw(self, dice: &mut Dice, face: Face, operation: Operation) -> Fault {
        if self == Self::Calm {
            return Fault::None;
        }
        let mut drawn = dice.below(1000);
        for (fault, of_thousand, operations, faces) in LIFE {
            if !operations.contains(&operation) || !faces.contains(&face) {
                continue;
            }
            if drawn < *of_thousand {
                return *fault;
            }
            drawn -= of_thousand;
        }
        Fault::None
    }
}
