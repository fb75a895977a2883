//! Which of the servers that know a file are used for it, and what the project of each is.

use std::path::Path;

use chartroom_workspace::roots::{self, Project};

use super::Orchestrator;
use crate::registry::{Server, When};

/// A server that knows a file, and the project that is marked for it.
type Candidate<'a> = (&'a Server, Option<Project>);

impl Orchestrator {
    /// Returns the servers that serve a file, each with the project it would have.
    pub(super) fn servers_of(&self, file: &Path) -> Vec<(&Server, Project)> {
        let known = self.registry.for_file(file).into_iter();
        let candidates: Vec<Candidate<'_>> =
            known.map(|server| (server, self.marked_project(server, file))).collect();
        let used = candidates.iter().filter_map(|(server, marked)| {
            let project = match (&server.when, marked) {
                (_, Some(project)) => project.clone(),
                (When::InMarkedProject, None) => return None,
                (_, None) => whole(self.root.as_path()),
            };
            let is_second_choice = match &server.when {
                // Where none of them is installed, the first is the one to tell of.
                When::InsteadOf(others) => {
                    let is_missing = || self.launch.find(server, &project.nearest).is_err();
                    !self.is_chosen(server, &project)
                        && (self.is_one_installed(others, &project) || is_missing())
                }
                When::Always | When::InMarkedProject => false,
            };
            let steps_aside = || candidates.iter().any(|other| self.steps_aside(server, &project, other));
            (!is_second_choice && !steps_aside()).then_some((*server, project))
        });
        used.collect()
    }

    /// Returns the project whose markers are above a file. Where the user named the markers, the nearest is the root.
    pub(super) fn marked_project(&self, server: &Server, file: &Path) -> Option<Project> {
        let markers: Vec<&str> = server.markers.iter().map(String::as_str).collect();
        if server.has_own_markers() {
            roots::nearest_marker(&self.root, file, &markers).map(|nearest| whole(&nearest))
        } else {
            roots::project(&self.root, file, &markers)
        }
    }

    /// Tells whether the project asks for this server where another would be preferred.
    fn is_chosen(&self, server: &Server, project: &Project) -> bool {
        let asks =
            |folder: &Path| server.chosen_by.iter().any(|own| roots::has_marker(&self.root, folder, own));
        asks(&project.nearest) || asks(&project.root)
    }

    fn is_one_installed(&self, ids: &[String], project: &Project) -> bool {
        let mut servers = ids.iter().filter_map(|id| self.registry.get(id));
        servers.any(|server| server.enabled && self.launch.find(server, &project.nearest).is_ok())
    }

    /// Tells whether another server is the one for this project: the project is marked for it (deno.json beside
    /// package.json), or asks for it and has it (ty.toml). The nearer marker wins, so that a package of another kind in
    /// the same repository keeps its own server.
    fn steps_aside(&self, server: &Server, project: &Project, (other, marked): &Candidate<'_>) -> bool {
        let nearest = marked.as_ref().map(|marked| marked.nearest.as_path());
        if other.replaces.contains(&server.id) {
            return nearest.is_some_and(|nearest| nearest.starts_with(&project.nearest));
        }
        if server.replaces.contains(&other.id) {
            return nearest
                .is_some_and(|nearest| nearest != project.nearest && nearest.starts_with(&project.nearest));
        }
        let is_instead = matches!(&other.when, When::InsteadOf(firsts) if firsts.contains(&server.id));
        is_instead && self.is_chosen(other, project) && self.launch.find(other, &project.nearest).is_ok()
    }
}

/// A project that is one folder.
pub(super) fn whole(folder: &Path) -> Project {
    Project { root: folder.to_owned(), nearest: folder.to_owned() }
}
