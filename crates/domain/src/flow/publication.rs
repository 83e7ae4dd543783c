//! What is checked before a flow is published (`docs/interface/flows.md#publication`).

use super::{Branch, FlowMethod, FlowProblem, FlowRefusal, Fork, Leaf, PROVIDERS_MAX};
use crate::id::ProviderId;
use crate::provider_type::ProviderType;

/// A provider of the merchant.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// The provider.
    pub id: ProviderId,
    /// Its type.
    pub provider_type: ProviderType,
    /// Whether its options let it take the method of the flow.
    pub takes_method: bool,
}

/// Adds what forbids to publish the tree.
pub(super) fn check(root: &Branch, method: FlowMethod, members: &[Member], problems: &mut Vec<FlowProblem>) {
    let mut check = Check { method, members, problems };
    check.branch(root, "flow.root", &[]);
}

struct Check<'a> {
    method: FlowMethod,
    members: &'a [Member],
    problems: &'a mut Vec<FlowProblem>,
}

impl Check<'_> {
    fn problem(&mut self, code: FlowRefusal, path: &str, message: &str) {
        let problem = FlowProblem { code, path: path.to_owned(), message: message.to_owned() };
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// `before` are the nodes on the way to the branch.
    fn branch(&mut self, branch: &Branch, path: &str, before: &[Leaf]) {
        for (index, leaf) in branch.leaves.iter().enumerate() {
            self.member(*leaf, &format!("{path}[{index}]"));
        }
        let mut way = before.to_vec();
        way.extend_from_slice(&branch.leaves);
        match branch.then.as_deref() {
            None => self.whole(&way, path),
            Some(fork) => {
                let at = format!("{path}[{}]", branch.leaves.len());
                let (names, ways) = match fork {
                    Fork::Condition { ways, .. } => (["yes", "no"], ways),
                    Fork::Balance { ways, learned, .. } => {
                        let is_late = way.iter().any(|leaf| matches!(leaf, Leaf::Provider(_)));
                        if learned.is_some() && is_late {
                            let message =
                                "must not follow a payment provider: only first tries are learned from";
                            self.problem(FlowRefusal::Invalid, &at, message);
                        }
                        (["branches[0].root", "branches[1].root"], ways)
                    }
                };
                for (name, branch) in names.into_iter().zip(ways) {
                    self.branch(branch, &format!("{at}.{name}"), &way);
                }
            }
        }
    }

    /// A whole way, from the root to its end.
    fn whole(&mut self, way: &[Leaf], path: &str) {
        let mut providers: Vec<ProviderId> = Vec::new();
        let mut analyses = 0_usize;
        for leaf in way {
            match leaf {
                Leaf::Provider(id) if providers.contains(id) => {
                    self.problem(FlowRefusal::Invalid, path, "must not have the same provider twice");
                }
                Leaf::Provider(id) => providers.push(*id),
                Leaf::AntiFraud(_) => {
                    analyses += 1;
                    if !providers.is_empty() {
                        let message = "must have its antiFraud node before its payment providers";
                        self.problem(FlowRefusal::Invalid, path, message);
                    }
                }
            }
        }
        if providers.is_empty() {
            self.problem(FlowRefusal::ProviderRequired, path, "must have a payment provider");
        }
        if let Some(Leaf::AntiFraud(_)) = way.last() {
            let message = "must have a payment provider after its antiFraud node";
            self.problem(FlowRefusal::ProviderAfterAntiFraudRequired, path, message);
        }
        if analyses > 1 {
            self.problem(FlowRefusal::AntiFraudDuplicated, path, "must not have two antiFraud nodes");
        }
        if providers.len() > PROVIDERS_MAX {
            let message = format!("must not have more than {PROVIDERS_MAX} payment providers");
            self.problem(FlowRefusal::Invalid, path, &message);
        }
    }

    fn member(&mut self, leaf: Leaf, path: &str) {
        let (Leaf::Provider(id) | Leaf::AntiFraud(id)) = leaf;
        let Some(member) = self.members.iter().find(|member| member.id == id) else {
            let message = "must be a provider of the merchant";
            return self.problem(FlowRefusal::ProviderNotInMerchant, path, message);
        };
        let can = member.provider_type.capabilities();
        match leaf {
            Leaf::AntiFraud(_) if can.anti_fraud.is_none() => {
                self.problem(FlowRefusal::Invalid, path, "must be a provider that analyses risk");
            }
            Leaf::AntiFraud(_) if self.method != FlowMethod::Credit => {
                self.problem(FlowRefusal::Invalid, path, "must not be there: only credit cards are analysed");
            }
            Leaf::AntiFraud(_) => {}
            Leaf::Provider(_) if !can.can_charge(self.method.payment_type()) || !member.takes_method => {
                let message = format!("must be a provider that takes {}", self.method.word());
                self.problem(FlowRefusal::Invalid, path, &message);
            }
            Leaf::Provider(_) => {}
        }
    }
}
