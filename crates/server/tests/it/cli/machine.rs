//! Another machine than the one on which the service runs: it knows an address, an account and a key.

use reqwest::Method;
use serde_json::Value;
use tokio::process::Command;

use crate::support::server::{Ran, Server, regente, run};

pub(super) struct Machine {
    folder: tempfile::TempDir,
    pub(super) url: String,
    pub(super) client_id: String,
    pub(super) key: String,
    http: reqwest::Client,
}

impl Machine {
    pub(super) fn of(url: String, client_id: &str, key: &str) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            url,
            client_id: client_id.to_owned(),
            key: key.to_owned(),
            http: reqwest::Client::builder().no_proxy().build().unwrap(),
        }
    }

    pub(super) fn beside(server: &Server) -> Self {
        let value = |name| server.value(name);
        Self::of(server.url(""), value("REGENTE_CLIENT_ID"), value("REGENTE_API_KEY"))
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = regente(arguments);
        command.arg("--data-dir").arg(self.folder.path());
        command.env("REGENTE_URL", &self.url).env("REGENTE_CLIENT_ID", &self.client_id);
        command.env("REGENTE_API_KEY", &self.key);
        command
    }

    pub(super) async fn run(&self, arguments: &[&str]) -> Ran {
        run(&mut self.command(arguments)).await
    }

    /// What the service answers to a request that no command makes.
    pub(super) async fn ask(&self, method: Method, path: &str, body: &Value) -> Value {
        let request = self.http.request(method, format!("{}{path}", self.url));
        let request = request.header("x-client-id", &self.client_id).header("x-api-key", &self.key);
        request.json(body).send().await.unwrap().json().await.unwrap()
    }
}
