//! Which server of a distributed database has an account.

use regente_domain::id::ClientId;
use uuid::Uuid;

/// PostgreSQL's start of a hash of 16 bytes (`hash_bytes`).
const SEED: u32 = 0x9e37_79b9_u32.wrapping_add(16).wrapping_add(3_923_095);

/// The hash by which the extension divides accounts among shards: PostgreSQL's own of a UUID, `uuid_hash`, on a server that stores
/// the lower byte of a number first. It is Bob Jenkins's lookup3 with another seed.
pub(crate) fn hash(client_id: ClientId) -> i32 {
    let bytes = client_id.uuid().into_bytes();
    let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let (mut a, mut b, mut c) =
        (SEED.wrapping_add(word(0)), SEED.wrapping_add(word(4)), SEED.wrapping_add(word(8)));
    let mix = |x: &mut u32, y: u32, z: &mut u32, by: u32| {
        *x = x.wrapping_sub(*z) ^ z.rotate_left(by);
        *z = z.wrapping_add(y);
    };
    mix(&mut a, b, &mut c, 4);
    mix(&mut b, c, &mut a, 6);
    mix(&mut c, a, &mut b, 8);
    mix(&mut a, b, &mut c, 16);
    mix(&mut b, c, &mut a, 19);
    mix(&mut c, a, &mut b, 4);
    a = a.wrapping_add(word(12));
    let end = |x: &mut u32, y: u32, by: u32| *x = (*x ^ y).wrapping_sub(y.rotate_left(by));
    end(&mut c, b, 14);
    end(&mut a, c, 11);
    end(&mut b, a, 25);
    end(&mut c, b, 16);
    end(&mut a, c, 4);
    end(&mut b, a, 14);
    end(&mut c, b, 24);
    c.cast_signed()
}

/// The shards of the tables of accounts, each with what is known of the server that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shards<S>(Vec<(i32, S)>);

impl<S> Shards<S> {
    /// From pairs of the last hash of a shard and its server; they cover all hashes.
    pub(super) fn new(mut by_last_hash: Vec<(i32, S)>) -> Self {
        by_last_hash.sort_by_key(|(last, _)| *last);
        Self(by_last_hash)
    }

    /// What has an account; `None` where there is no shard.
    pub(super) fn of(&self, client_id: ClientId) -> Option<&S> {
        let hash = hash(client_id);
        let at = self.0.partition_point(|(last, _)| *last < hash);
        self.0.get(at).map(|(_, server)| server)
    }

    /// Of each shard.
    pub(super) fn servers(&self) -> impl Iterator<Item = &S> {
        self.0.iter().map(|(_, server)| server)
    }

    /// An account id of each shard, whether or not there is such an account.
    pub(super) fn examples(&self) -> impl Iterator<Item = (ClientId, &S)> {
        let mut first = i32::MIN;
        self.0.iter().filter_map(move |(last, server)| {
            let range = first..=*last;
            first = last.saturating_add(1);
            let mut ids = (0..=u16::MAX).map(|number| ClientId::new(Uuid::from_u128(number.into())));
            ids.find(|id| range.contains(&hash(*id))).map(|id| (id, server))
        })
    }
}
