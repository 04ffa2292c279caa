//! Kernel methods that scale, with guarantees: the facade of the nystrom workspace.
