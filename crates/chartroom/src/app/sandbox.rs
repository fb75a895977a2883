//! From the user's words about the sandbox to what the gate enforces.

use std::path::{Path, PathBuf};

use chartroom_lsp::launch::CONFINED_BY_DEFAULT;
use chartroom_transport::{SandboxSupport, SandboxTool};
use chartroom_workspace::gate::{NetworkSetting, SandboxMode, SandboxRules, SandboxSettings};

use crate::config::{
    self, NetworkConfig, NetworkWord, ProjectSandboxConfig, SandboxConfig, SandboxToolWord, SandboxWord,
};

/// Returns the settings of a gate on this system.
pub(super) fn settings(config: &SandboxConfig, bridges: Option<PathBuf>) -> SandboxSettings {
    let settings = settings_on(config, SandboxSupport::of_this_system(), dirs::home_dir().as_deref());
    SandboxSettings { shown: bridges.into_iter().collect(), ..settings }
}

/// Whether the agents of any project are in a sandbox.
pub(super) fn confines_agents(config: &SandboxConfig) -> bool {
    let of_projects = config.projects.values().map(|project| project.agents);
    of_projects.chain([config.agents]).flatten().any(|word| word != SandboxWord::Off)
}

fn settings_on(config: &SandboxConfig, support: SandboxSupport, home: Option<&Path>) -> SandboxSettings {
    let for_all = ProjectSandboxConfig {
        agents: config.agents,
        language_servers: config.language_servers,
        tool: config.tool,
        allow_read: config.allow_read.clone(),
        allow_write: config.allow_write.clone(),
        network: config.network.clone(),
    };
    let projects = config.projects.iter().map(|(path, project)| {
        let path = expanded(path, home);
        // As the gate knows a project: without links.
        (path.canonicalize().unwrap_or(path), rules(&for_all, project, home))
    });
    SandboxSettings {
        rules: rules(&for_all, &ProjectSandboxConfig::default(), home),
        projects: projects.collect(),
        support,
        proven_servers: CONFINED_BY_DEFAULT.into_iter().map(str::to_owned).collect(),
        // It may hold the server's token.
        hidden: config::default_path().into_iter().collect(),
        shown: Vec::new(),
    }
}

/// What a project sets wins, key by key.
fn rules(
    for_all: &ProjectSandboxConfig,
    project: &ProjectSandboxConfig,
    home: Option<&Path>,
) -> SandboxRules {
    let paths = |own: &Option<Vec<String>>, all: &Option<Vec<String>>| {
        let paths = own.as_ref().or(all.as_ref()).into_iter().flatten();
        paths.map(|path| expanded(path, home)).collect()
    };
    SandboxRules {
        agents: project.agents.or(for_all.agents).map_or(SandboxMode::Off, mode),
        language_servers: project.language_servers.or(for_all.language_servers).map(mode),
        tool: project.tool.or(for_all.tool).map(|tool| match tool {
            SandboxToolWord::Landlock => SandboxTool::Landlock,
            SandboxToolWord::Bubblewrap => SandboxTool::Bubblewrap,
            SandboxToolWord::SandboxExec => SandboxTool::Seatbelt,
        }),
        allow_read: paths(&project.allow_read, &for_all.allow_read),
        allow_write: paths(&project.allow_write, &for_all.allow_write),
        network: project.network.as_ref().or(for_all.network.as_ref()).map(|network| match network {
            NetworkConfig::Word(NetworkWord::All) => NetworkSetting::All,
            NetworkConfig::Word(NetworkWord::Agent) => NetworkSetting::Agent,
            NetworkConfig::Word(NetworkWord::None) => NetworkSetting::None,
            NetworkConfig::Ports(ports) => NetworkSetting::Ports(ports.clone()),
        }),
    }
}

fn mode(word: SandboxWord) -> SandboxMode {
    match word {
        SandboxWord::Off => SandboxMode::Off,
        SandboxWord::Workspace => SandboxMode::Workspace,
        SandboxWord::Strict => SandboxMode::Strict,
    }
}

pub(super) fn expanded(path: &str, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn a_project_sets_what_it_names_and_has_the_rest_of_all() {
        let text = "[sandbox]\nagents = \"workspace\"\nallowRead = [\"~/.ssh\"]\nnetwork = [443, 8080]\n\
                    [sandbox.projects.\"/srv/x\"]\nagents = \"strict\"\ntool = \"bubblewrap\"\n\
                    [sandbox.projects.\"~/y\"]\nnetwork = \"none\"\nallowRead = []\n";
        let config: Config = toml::from_str(text).unwrap();
        let settings = settings_on(&config.sandbox, SandboxSupport::default(), Some(Path::new("/home/u")));
        let all = SandboxRules {
            agents: SandboxMode::Workspace,
            allow_read: vec!["/home/u/.ssh".into()],
            network: Some(NetworkSetting::Ports(vec![443, 8080])),
            ..SandboxRules::default()
        };
        let x =
            SandboxRules { agents: SandboxMode::Strict, tool: Some(SandboxTool::Bubblewrap), ..all.clone() };
        let y = SandboxRules { network: Some(NetworkSetting::None), allow_read: Vec::new(), ..all.clone() };
        assert_eq!(settings.rules, all);
        assert_eq!(settings.projects, [("/srv/x".into(), x), ("/home/u/y".into(), y)].into());
        assert!(settings.proven_servers.contains("gopls"));
    }
}
