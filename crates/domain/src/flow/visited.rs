//! Tells which nodes of a tree a charge visited, and which way it took at each.

use serde_json::{Map, Value};

use super::Turn;

/// A node that a charge visited.
#[derive(Clone, Debug, PartialEq)]
pub struct Visited<'a> {
    /// Where it is in the tree, such as `root[0].yes[1]`.
    pub path: String,
    /// The node as published.
    pub node: &'a Map<String, Value>,
    /// The way on: `yes`, `no`, `branches[0]` or `branches[1]`; absent at providers and analyses.
    pub way: Option<&'static str>,
    /// The turn that was taken there; absent at providers and analyses.
    pub turn: Option<Turn>,
}

/// The nodes of `tree` that a charge with these turns visited, in their order.
pub fn visited<'a>(tree: &'a Map<String, Value>, turns: &[Turn]) -> Vec<Visited<'a>> {
    let mut found = Vec::new();
    let mut turns = turns.iter();
    let mut path = "root".to_owned();
    let mut branch = tree.get("root");
    while let Some(Value::Array(nodes)) = branch {
        branch = None;
        for (index, node) in nodes.iter().enumerate() {
            let Some(node) = node.as_object() else { continue };
            let at = format!("{path}[{index}]");
            let rule = node.get("rule").and_then(Value::as_str).unwrap_or_default();
            let (names, ways) = match rule {
                "condition" => (["yes", "no"], [node.get("yes"), node.get("no")]),
                "balance" => {
                    let root = |index: usize| node.get("branches")?.get(index)?.get("root");
                    (["branches[0]", "branches[1]"], [root(0), root(1)])
                }
                _ => {
                    found.push(Visited { path: at, node, way: None, turn: None });
                    continue;
                }
            };
            let Some(turn) = turns.next() else { return found };
            let side = usize::from(turn.way != 0);
            let suffix = if rule == "balance" { ".root" } else { "" };
            path = format!("{at}.{}{suffix}", names[side]);
            branch = ways[side];
            found.push(Visited { path: at, node, way: Some(names[side]), turn: Some(*turn) });
            break;
        }
    }
    found
}
