//! Landlock: this process gives rights up, and everything it starts has no more than it kept.

use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, NetPort, PathBeneath,
    PathFd, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetStatus, Scope,
};

use super::{Network, Sandbox, WRITES_ABI, grants};

/// The versions that bring something we use, newest first.
const VERSIONS: [ABI; 6] = [ABI::V6, ABI::V5, ABI::V4, ABI::V3, ABI::V2, ABI::V1];

/// What programs write to that is neither a file nor a folder of anybody's.
const DEVICES: [&str; 9] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/shm",
];

/// Returns the newest version that the kernel has, as far as it makes a difference to us.
pub(super) fn abi() -> Option<u32> {
    newest().map(|abi| abi as u32)
}

/// A set of rules that is made and dropped changes nothing.
fn newest() -> Option<ABI> {
    let has = |abi: &ABI| {
        let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        let ruleset = ruleset.handle_access(AccessFs::from_all(*abi));
        let ruleset = match AccessNet::from_all(*abi) {
            net if net.is_empty() => ruleset,
            net => ruleset.and_then(|ruleset| ruleset.handle_access(net)),
        };
        let ruleset = match Scope::from_all(*abi) {
            scope if scope.is_empty() => ruleset,
            scope => ruleset.and_then(|ruleset| ruleset.scope(scope)),
        };
        ruleset.and_then(Ruleset::create).is_ok()
    };
    VERSIONS.into_iter().find(has)
}

/// Restricts this process, for ever, to what the sandbox allows.
pub(super) fn restrict(sandbox: &Sandbox) -> io::Result<()> {
    let abi = newest().filter(|abi| *abi as u32 >= WRITES_ABI);
    let abi = abi.ok_or_else(|| io::Error::other("this kernel's landlock cannot keep files"))?;
    let mut hidden = sandbox.hidden.clone();
    // A secret folder may be a link to where it really is.
    hidden.extend(grants::real(&sandbox.hidden));
    let read = grants::around(&grants::real(&sandbox.read), &hidden);
    let write = grants::around(&grants::real(&sandbox.write), &hidden);
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(abi))
        .map_err(io::Error::other)?;
    let ruleset = match &sandbox.network {
        Network::All => ruleset,
        Network::Ports(_) => ruleset.handle_access(AccessNet::from_all(ABI::V4)).map_err(io::Error::other)?,
    };
    let ruleset = match Scope::from_all(abi) {
        scope if sandbox.apart && !scope.is_empty() => ruleset.scope(scope).map_err(io::Error::other)?,
        _ => ruleset,
    };
    let mut rules = ruleset.create().map_err(io::Error::other)?;
    for path in &read.whole {
        rules = allow(rules, path, AccessFs::from_read(abi))?;
    }
    // The names in a folder that is granted in parts may be seen; a right to list goes down to what is hidden, whose
    // names are seen too and whose files are not.
    for path in &read.split {
        rules = allow(rules, path, AccessFs::ReadDir.into())?;
    }
    for path in write.whole.iter().cloned().chain(DEVICES.map(PathBuf::from)) {
        rules = allow(rules, &path, AccessFs::from_all(abi))?;
    }
    enforce(match &sandbox.network {
        Network::All => rules,
        Network::Ports(ports) => allow_ports(rules, ports)?,
    })
}

/// Restricts this process to these ports and leaves files alone.
pub(super) fn restrict_network(ports: &[u16]) -> io::Result<()> {
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessNet::from_all(ABI::V4))
        .and_then(Ruleset::create)
        .map_err(io::Error::other)?;
    enforce(allow_ports(rules, ports)?)
}

fn allow_ports(mut rules: RulesetCreated, ports: &[u16]) -> io::Result<RulesetCreated> {
    for port in ports {
        rules = rules.add_rule(NetPort::new(*port, AccessNet::ConnectTcp)).map_err(io::Error::other)?;
    }
    Ok(rules)
}

fn allow(rules: RulesetCreated, path: &Path, access: BitFlags<AccessFs>) -> io::Result<RulesetCreated> {
    // What went away since it was listed, or may not even be opened, needs no right.
    let (Ok(opened), Ok(metadata)) = (PathFd::new(path), path.metadata()) else { return Ok(rules) };
    let access = if metadata.is_dir() { access } else { access & AccessFs::from_file(ABI::V6) };
    if access.is_empty() {
        return Ok(rules);
    }
    rules.add_rule(PathBeneath::new(opened, access)).map_err(io::Error::other)
}

fn enforce(rules: RulesetCreated) -> io::Result<()> {
    let status = rules.restrict_self().map_err(io::Error::other)?;
    if status.ruleset == RulesetStatus::FullyEnforced {
        Ok(())
    } else {
        Err(io::Error::other("landlock does not enforce all of the sandbox"))
    }
}
