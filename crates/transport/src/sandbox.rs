//! What a child may touch, beyond what its user may: folders and ports, enforced by the kernel before it runs.
//!
//! The keeper is told of it on its command line. With landlock it restricts itself, and the child inherits that; with
//! bubblewrap or macOS's sandbox-exec it starts the command through that program. A sandbox that cannot be had is a
//! child that does not start, never one that runs without.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

mod bubblewrap;
mod grants;
#[cfg(target_os = "linux")]
mod landlock;
mod seatbelt;
mod support;

pub use support::{SandboxSupport, WRITES_ABI};

/// The limits of one child. The nearest entry above a path decides; where none is, nothing is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sandbox {
    /// What enforces it.
    pub tool: SandboxTool,
    /// What may be read and executed; `/` for everything that is not hidden.
    pub read: Vec<PathBuf>,
    /// What may also be written.
    pub write: Vec<PathBuf>,
    /// What may not be read, although it lies below something that may. An entry below one of these is allowed again.
    pub hidden: Vec<PathBuf>,
    /// Which TCP ports may be connected to.
    pub network: Network,
    /// Whether signals and abstract sockets stay among the child's own processes, where the kernel can tell.
    pub apart: bool,
}

/// What enforces a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SandboxTool {
    /// Linux's own, without another program.
    Landlock,
    /// `bwrap`: the hidden is not there at all.
    Bubblewrap,
    /// macOS's `sandbox-exec`.
    Seatbelt,
}

/// Where a child may connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Network {
    /// Everywhere.
    All,
    /// TCP to these ports only, and no port may be listened on.
    Ports(Vec<u16>),
}

/// What a sandbox allows for one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing.
    Nothing,
    /// Reading and executing.
    Read,
    /// Writing too.
    Write,
}

impl SandboxTool {
    /// The word of the config and of the keeper's command line.
    pub fn as_str(self) -> &'static str {
        match self {
            SandboxTool::Landlock => "landlock",
            SandboxTool::Bubblewrap => "bubblewrap",
            SandboxTool::Seatbelt => "sandbox-exec",
        }
    }

    fn of(word: &str) -> Option<Self> {
        let all = [SandboxTool::Landlock, SandboxTool::Bubblewrap, SandboxTool::Seatbelt];
        all.into_iter().find(|tool| tool.as_str() == word)
    }
}

impl Sandbox {
    /// Returns what is allowed for a path, which must be absolute and without links.
    pub fn access(&self, path: &Path) -> Access {
        let nearest = |entries: &[PathBuf]| {
            let above = entries.iter().filter(|entry| path.starts_with(entry));
            above.map(|entry| entry.components().count()).max()
        };
        let hidden = nearest(&self.hidden);
        if nearest(&self.write) > hidden {
            Access::Write
        } else if nearest(&self.read) > hidden {
            Access::Read
        } else {
            Access::Nothing
        }
    }

    /// Whether a path lies directly beside something hidden, where landlock lets nothing new be made.
    pub fn is_beside_hidden(&self, path: &Path) -> bool {
        self.tool == SandboxTool::Landlock
            && path.parent().is_some_and(|folder| self.hidden.iter().any(|hidden| hidden.starts_with(folder)))
    }

    /// Returns the keeper's arguments for this sandbox.
    pub(crate) fn to_args(&self) -> Vec<OsString> {
        let mut args: Vec<OsString> = vec!["--sandbox".into(), self.tool.as_str().into()];
        for (name, paths) in [("--read", &self.read), ("--write", &self.write), ("--hide", &self.hidden)] {
            args.extend(paths.iter().flat_map(|path| [OsString::from(name), path.into()]));
        }
        if let Network::Ports(ports) = &self.network {
            let ports = ports.iter().map(u16::to_string).collect::<Vec<_>>().join(",");
            args.extend(["--ports".into(), ports.into()]);
        }
        if self.apart {
            args.push("--apart".into());
        }
        args
    }

    /// A sandbox of this tool that allows nothing yet; [`Sandbox::take`] fills it from the arguments that follow.
    pub(crate) fn named(tool: &OsString) -> Option<Self> {
        let tool = SandboxTool::of(tool.to_str()?)?;
        let (read, write, hidden) = (Vec::new(), Vec::new(), Vec::new());
        Some(Sandbox { tool, read, write, hidden, network: Network::All, apart: false })
    }

    /// Takes one argument of [`Sandbox::to_args`], with its value from `args`. `None` for any other.
    pub(crate) fn take(&mut self, arg: &OsString, args: &mut impl Iterator<Item = OsString>) -> Option<()> {
        match arg.to_str()? {
            "--read" => self.read.push(args.next()?.into()),
            "--write" => self.write.push(args.next()?.into()),
            "--hide" => self.hidden.push(args.next()?.into()),
            "--ports" => {
                let ports = args.next()?;
                let ports = ports.to_str()?.split(',').filter(|port| !port.is_empty());
                self.network = Network::Ports(ports.map(str::parse).collect::<Result<_, _>>().ok()?);
            }
            "--apart" => self.apart = true,
            _ => return None,
        }
        Some(())
    }

    /// Puts this sandbox around a command: restricts this process, or returns the command that starts it inside.
    pub(crate) fn enter(
        &self,
        program: &OsString,
        args: &[OsString],
    ) -> io::Result<(OsString, Vec<OsString>)> {
        match self.tool {
            SandboxTool::Landlock => {
                restrict(self)?;
                Ok((program.clone(), args.to_vec()))
            }
            SandboxTool::Bubblewrap => {
                if let Network::Ports(ports) = &self.network
                    && !ports.is_empty()
                {
                    // A network namespace knows no ports; landlock without rules about files does not forbid mounting.
                    restrict_network(ports)?;
                }
                Ok(bubblewrap::command(self, program, args))
            }
            SandboxTool::Seatbelt => Ok(seatbelt::command(self, program, args)),
        }
    }

    /// Whether the program runs below another one that would not pass a signal on.
    pub(crate) fn wraps(&self) -> bool {
        self.tool == SandboxTool::Bubblewrap
    }
}

#[cfg(target_os = "linux")]
use landlock::{restrict, restrict_network};

#[cfg(not(target_os = "linux"))]
fn restrict(_sandbox: &Sandbox) -> io::Result<()> {
    Err(io::Error::other("landlock is Linux's own; use sandbox-exec here"))
}

#[cfg(not(target_os = "linux"))]
fn restrict_network(_ports: &[u16]) -> io::Result<()> {
    Err(io::Error::other("landlock is Linux's own; use sandbox-exec here"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sandbox() -> Sandbox {
        Sandbox {
            tool: SandboxTool::Landlock,
            read: vec!["/".into(), "/home/u/.ssh/known_hosts".into()],
            write: vec!["/home/u/project".into()],
            hidden: vec!["/home/u/.ssh".into(), "/home/u/project/.secret".into()],
            network: Network::Ports(vec![443, 8080]),
            apart: true,
        }
    }

    #[test]
    fn the_nearest_entry_above_a_path_decides() {
        for (path, access) in [
            ("/etc/passwd", Access::Read),
            ("/home/u/project", Access::Write),
            ("/home/u/project/src/a.rs", Access::Write),
            ("/home/u/projects", Access::Read),
            ("/home/u/.ssh/id_x", Access::Nothing),
            ("/home/u/.ssh/known_hosts", Access::Read),
            ("/home/u/.sshd", Access::Read),
            ("/home/u/project/.secret/a", Access::Nothing),
        ] {
            assert_eq!(sandbox().access(Path::new(path)), access, "{path}");
        }
        let nothing = Sandbox { read: Vec::new(), ..sandbox() };
        assert_eq!(nothing.access(Path::new("/etc/passwd")), Access::Nothing);
    }

    #[test]
    fn the_keeper_reads_what_it_is_told() {
        for network in [Network::All, Network::Ports(Vec::new()), Network::Ports(vec![443])] {
            let sandbox = Sandbox { network, ..sandbox() };
            let mut args = sandbox.to_args().into_iter();
            assert_eq!(args.next().unwrap(), "--sandbox");
            let mut read = Sandbox::named(&args.next().unwrap()).unwrap();
            while let Some(arg) = args.next() {
                read.take(&arg, &mut args).unwrap();
            }
            assert_eq!(read, sandbox);
        }
        assert_eq!(Sandbox::named(&"chroot".into()), None);
        assert_eq!(sandbox().take(&"--nonsense".into(), &mut std::iter::empty()), None);
    }
}
