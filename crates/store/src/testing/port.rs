//! Ports for servers that tests start in other processes.

use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::TcpSocket;

/// A free port of this machine, kept for a server of another process, which may start there several times.
///
/// The port is bound, but nothing listens on it: connections are refused, and the kernel gives the port to nobody who
/// asks for any. A server that binds it by its number with `SO_REUSEADDR`, as Regente and PostgreSQL do, gets it.
#[derive(Debug)]
pub struct ReservedPort {
    address: SocketAddr,
    _bound: TcpSocket,
}

impl ReservedPort {
    /// Any free port of the loopback interface.
    pub fn any() -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_reuseaddr(true).expect("an address that can be bound again");
        socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("a free port");
        Self { address: socket.local_addr().expect("a bound socket has an address"), _bound: socket }
    }

    /// Its number.
    pub fn number(&self) -> u16 {
        self.address.port()
    }

    /// Host and port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}
