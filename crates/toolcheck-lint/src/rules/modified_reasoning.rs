use crate::rule::declare_rule;

declare_rule! {
    ModifiedReasoning in Reasoning, since "0.1.0", silent on wire, explained,
    values PART
}
