//! Reads a tree: what it means, and every place where it cannot be read.

mod balance;

use serde_json::{Map, Value};

pub use balance::Strategy;

use super::condition::{Condition, Operand, Operator, Property, When};
use super::{Branch, DEPTH_MAX, Flow, FlowProblem, FlowRefusal, Fork, GRAMMAR, Leaf, NODES_MAX};
use crate::card::Brand;
use crate::currency::Currency;
use crate::id::{Id, ProviderId};
use crate::payment_type::INSTALLMENTS_MAX;
use crate::wire;
use crate::words::words;

const ROOT: &str = "root";
const VERSION: &str = "version";
/// The member with the label of a node, which only people read.
const NAME: &str = "name";
/// Keys of metadata whose names are those of properties.
pub(super) const RESERVED: [&str; 7] =
    ["currency", "cardBin", "installments", "amount", "brand", "paymentType", "operation"];
const BIN_DIGITS: usize = 6;

words! {
    /// What a node is.
    NodeRule {
        /// A payment provider.
        Provider = "provider",
        /// An analysis of the risk.
        AntiFraud = "antiFraud",
        /// Two ways, of which a condition takes one.
        Condition = "condition",
        /// Two ways, of which chance takes one.
        Balance = "balance",
    }
}

words! {
    /// The type of a value in metadata.
    MetadataType {
        /// A number.
        Number = "number",
        /// A text.
        Text = "string",
        /// True or false.
        Flag = "boolean",
    }
}

/// The tree, and what is wrong with it.
pub(super) fn read(tree: &Map<String, Value>) -> (Flow, Vec<FlowProblem>) {
    let mut reader = Reader::default();
    reader.only(tree, "flow", &[VERSION, ROOT]);
    if tree.get(VERSION).and_then(Value::as_str) != Some(GRAMMAR) {
        reader.invalid("flow.version", format!("must be {GRAMMAR}"));
    }
    let root = reader.branch(tree.get(ROOT), "flow.root", 0);
    if reader.nodes > NODES_MAX {
        reader.invalid("flow.root", format!("must not have more than {NODES_MAX} nodes"));
    }
    (Flow { root }, reader.problems)
}

#[derive(Default)]
struct Reader {
    problems: Vec<FlowProblem>,
    nodes: usize,
    balances: u16,
}

impl Reader {
    fn problem(&mut self, code: FlowRefusal, path: &str, message: impl Into<String>) {
        self.problems.push(FlowProblem { code, path: path.to_owned(), message: message.into() });
    }

    fn invalid(&mut self, path: &str, message: impl Into<String>) {
        self.problem(FlowRefusal::Invalid, path, message);
    }

    /// Refuses members of other names: a misspelled one would be silently without effect.
    fn only(&mut self, members: &Map<String, Value>, path: &str, known: &[&str]) {
        for name in members.keys().filter(|name| !known.contains(&name.as_str())) {
            self.invalid(&format!("{path}.{name}"), "should not exist");
        }
    }

    fn branch(&mut self, sent: Option<&Value>, path: &str, depth: usize) -> Branch {
        let mut branch = Branch::default();
        let Some(Value::Array(nodes)) = sent else {
            self.invalid(path, "must be a list of nodes");
            return branch;
        };
        if depth >= DEPTH_MAX {
            self.invalid(path, format!("must not be deeper than {DEPTH_MAX} nodes"));
            return branch;
        }
        for (index, node) in nodes.iter().enumerate() {
            self.nodes += 1;
            let path = format!("{path}[{index}]");
            if branch.then.is_some() {
                self.invalid(&path, "must not follow a condition or a balance, which end their list");
                return branch;
            }
            self.node(node, &path, depth + 1, &mut branch);
        }
        branch
    }

    fn node(&mut self, sent: &Value, path: &str, depth: usize, into: &mut Branch) {
        let Some(members) = sent.as_object() else { return self.invalid(path, "must be an object") };
        if members.get(NAME).is_some_and(|name| !name.is_string()) {
            self.invalid(&format!("{path}.{NAME}"), "must be a string");
        }
        let rule = members.get("rule").and_then(Value::as_str).and_then(NodeRule::parse);
        match rule {
            None => {
                let words = wire::not_among(NodeRule::WORDS.iter().map(|(word, _)| *word));
                self.invalid(&format!("{path}.rule"), words);
            }
            Some(NodeRule::Provider) => into.leaves.extend(self.leaf(members, path).map(Leaf::Provider)),
            Some(NodeRule::AntiFraud) => into.leaves.extend(self.leaf(members, path).map(Leaf::AntiFraud)),
            Some(NodeRule::Condition) => {
                self.only(members, path, &["rule", NAME, "when", "yes", "no"]);
                let when = self.when(members.get("when"), &format!("{path}.when"));
                let yes = self.branch(members.get("yes"), &format!("{path}.yes"), depth);
                let no = self.branch(members.get("no"), &format!("{path}.no"), depth);
                into.then = when.map(|when| Box::new(Fork::Condition { when, ways: [yes, no] }));
            }
            Some(NodeRule::Balance) => into.then = self.balance(members, path, depth).map(Box::new),
        }
    }

    fn leaf(&mut self, members: &Map<String, Value>, path: &str) -> Option<ProviderId> {
        self.only(members, path, &["rule", NAME, "id"]);
        let id = members.get("id").and_then(Value::as_str).and_then(wire::uuid);
        if id.is_none() {
            self.invalid(&format!("{path}.id"), "must be a UUID");
        }
        id.map(Id::new)
    }

    fn when(&mut self, sent: Option<&Value>, path: &str) -> Option<When> {
        let Some(members) = sent.and_then(Value::as_object) else {
            self.invalid(path, "must be an object");
            return None;
        };
        let join = members.get("operator").and_then(Value::as_str);
        let (Some(join @ ("and" | "or")), Some(joined)) = (join, members.get("conditions")) else {
            return self.condition(members, path).map(When::One);
        };
        self.only(members, path, &["operator", "conditions"]);
        let at = format!("{path}.conditions");
        let Some([a, b]) = joined.as_array().map(Vec::as_slice) else {
            self.invalid(&at, "must be a list of two conditions");
            return None;
        };
        let mut read = |sent: &Value, path: String| match sent.as_object() {
            Some(members) => self.condition(members, &path),
            None => {
                self.invalid(&path, "must be an object");
                None
            }
        };
        let (a, b) = (read(a, format!("{at}[0]")), read(b, format!("{at}[1]")));
        let (a, b) = (a?, b?);
        match join {
            "and" if a.excludes(&b) => {
                self.invalid(&at, "must be able to hold together");
                None
            }
            "and" => Some(When::And([a, b])),
            _ => Some(When::Or([a, b])),
        }
    }

    fn condition(&mut self, members: &Map<String, Value>, path: &str) -> Option<Condition> {
        let name = members.get("property").and_then(Value::as_str).unwrap_or_default();
        let known: &[&str] = match name.starts_with("metadata.") {
            true => &["property", "operator", "value", "type", "default"],
            false => &["property", "operator", "value"],
        };
        self.only(members, path, known);
        let operator = members.get("operator").and_then(Value::as_str).and_then(Operator::parse);
        if operator.is_none() {
            let words = wire::not_among(Operator::WORDS.iter().map(|(word, _)| *word));
            self.invalid(&format!("{path}.operator"), words);
        }
        let (property, operand) = self.compared(name, members, path)?;
        let operator = operator?;
        let has_order = matches!(operand, Operand::Whole(_) | Operand::Number(_));
        if !has_order && !operator.is_equality() {
            self.invalid(&format!("{path}.operator"), "must be eq or ne for what is not a number");
            return None;
        }
        Some(Condition { property, operator, value: operand })
    }

    /// What a condition looks at, and what it compares it with.
    fn compared(
        &mut self,
        name: &str,
        members: &Map<String, Value>,
        path: &str,
    ) -> Option<(Property, Operand)> {
        let value = members.get("value").unwrap_or(&Value::Null);
        let text = value.as_str();
        let (property, operand, rule) = match name {
            "transaction.amount" => {
                let amount = value.as_i64().filter(|amount| (0..=wire::INTEGER_MAX).contains(amount));
                (Property::Amount, amount.map(Operand::Whole), "must be a whole number of minor units")
            }
            "transaction.installments" => {
                let most = i64::from(INSTALLMENTS_MAX);
                let installments = value.as_i64().filter(|number| (1..=most).contains(number));
                (Property::Installments, installments.map(Operand::Whole), "must be a number of installments")
            }
            "transaction.currency" => {
                let currency = text.and_then(Currency::parse).map(Operand::Currency);
                (Property::Currency, currency, "must be a currency")
            }
            "transaction.brand" => {
                let brand = text.and_then(Brand::parse).map(Operand::Brand);
                (Property::Brand, brand, "must be the name of a brand")
            }
            "transaction.cardBin" => {
                let is_bin =
                    |bin: &&str| bin.len() == BIN_DIGITS && bin.bytes().all(|byte| byte.is_ascii_digit());
                let bin = text.filter(is_bin).map(|bin| Operand::Text(bin.to_owned()));
                (Property::CardBin, bin, "must be a string of 6 digits")
            }
            _ => match name.strip_prefix("metadata.").filter(|key| !key.is_empty()) {
                Some(key) => return self.metadata(key, members, path),
                None => {
                    let rule = "must be transaction.amount, transaction.currency, transaction.cardBin, \
                                transaction.brand, transaction.installments or metadata. with a key";
                    self.invalid(&format!("{path}.property"), rule);
                    return None;
                }
            },
        };
        if operand.is_none() {
            self.invalid(&format!("{path}.value"), rule);
        }
        Some((property, operand?))
    }

    fn metadata(
        &mut self,
        key: &str,
        members: &Map<String, Value>,
        path: &str,
    ) -> Option<(Property, Operand)> {
        if RESERVED.contains(&key) {
            self.invalid(&format!("{path}.property"), "must not be a reserved key");
        }
        let default = members.get("default").and_then(Value::as_bool);
        if default.is_none() {
            let code = FlowRefusal::MetadataDefaultRequired;
            self.problem(code, &format!("{path}.default"), "must be true or false");
        }
        let kind = members.get("type").and_then(Value::as_str).and_then(MetadataType::parse);
        let Some(kind) = kind else {
            let words = wire::not_among(MetadataType::WORDS.iter().map(|(word, _)| *word));
            self.invalid(&format!("{path}.type"), words);
            return None;
        };
        let value = members.get("value").unwrap_or(&Value::Null);
        let operand = match kind {
            MetadataType::Number => number(value),
            MetadataType::Text => value.as_str().map(|text| Operand::Text(text.to_owned())),
            MetadataType::Flag => value.as_bool().map(Operand::Flag),
        };
        if operand.is_none() {
            self.invalid(&format!("{path}.value"), format!("must be a {}", kind.word()));
        }
        Some((Property::Metadata { key: key.to_owned(), default: default? }, operand?))
    }
}

fn number(value: &Value) -> Option<Operand> {
    value.as_f64().map(Operand::Number)
}
