//! The one list of routes. The router, the OpenAPI document and the guard's test are all made from it, so a route
//! that is not here does not exist, and one that is here cannot be forgotten.
//!
//! To add a route: write `#[utoipa::path(…)]` above its handler, name it in its file's `routes()`, and that file in
//! [`table`].

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::Method;
use axum::middleware::from_fn;
use axum::routing::MethodRouter;
use utoipa::openapi::path::{PathItem, Paths};
use utoipa::openapi::schema::Schema;
use utoipa::openapi::{ComponentsBuilder, InfoBuilder, OpenApi, OpenApiBuilder, RefOr};
use utoipa_axum::router::UtoipaMethodRouter;

use super::{
    agents, devices, file, file_view, files, folders, git, health, index, launch, limits, lsp, metrics,
    openapi, oversize, page, project, session, terminal, tries, worktree, ws,
};
use crate::app::App;

/// What a route is for, which decides its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The page.
    Page,
    /// JSON in, JSON out.
    Api,
    /// An API route whose body carries images.
    Upload,
    /// A WebSocket.
    Socket,
}

/// One path with the methods it takes.
pub struct Route {
    /// The path, with its parameters in braces.
    pub path: String,
    /// What it takes.
    pub methods: Vec<Method>,
    /// Which checks it goes through.
    pub kind: Kind,
    router: MethodRouter<App>,
    paths: Paths,
    schemas: Vec<(String, RefOr<Schema>)>,
}

/// Returns every route.
pub fn table() -> Vec<Route> {
    let groups = [
        page::routes(),
        health::routes(),
        openapi::routes(),
        metrics::routes(),
        launch::routes(),
        devices::routes(),
        agents::routes(),
        project::routes(),
        file::routes(),
        file_view::routes(),
        files::routes(),
        folders::routes(),
        index::routes(),
        session::routes(),
        worktree::routes(),
        tries::routes(),
        git::routes(),
        lsp::routes(),
        terminal::routes(),
        ws::routes(),
    ];
    groups.into_iter().flatten().collect()
}

impl Route {
    /// Makes a route of one path out of `routes!(handler, …)`.
    pub(super) fn new(kind: Kind, (schemas, paths, router): UtoipaMethodRouter<App>) -> Self {
        let (path, item) = paths.paths.iter().next().expect("routes!() names at least one handler");
        Self { path: path.clone(), methods: methods(item), kind, router, schemas, paths }
    }
}

/// Returns the router and the document of all routes.
pub(super) fn build() -> (Router<App>, OpenApi) {
    let mut router = Router::new();
    let mut schemas = Vec::new();
    let mut all = Paths::new();
    for route in table() {
        let limit = limits::body(route.kind);
        let refuse = from_fn(move |request, next| oversize::refuse(limit, request, next));
        let method_router = route.router.layer(DefaultBodyLimit::max(limit)).layer(refuse);
        router = router.route(&route.path, method_router);
        schemas.extend(route.schemas);
        all.paths.extend(route.paths.paths);
    }
    let info = InfoBuilder::new()
        .title("Chartroom")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some("Every route wants `Authorization: Bearer TOKEN` or the page's cookie together with its key in `x-chartroom-key`."))
        .build();
    let components = ComponentsBuilder::new().schemas_from_iter(schemas).build();
    let document = OpenApiBuilder::new().info(info).paths(all).components(Some(components)).build();
    (router, document)
}

fn methods(item: &PathItem) -> Vec<Method> {
    let known = [
        (Method::GET, item.get.is_some()),
        (Method::POST, item.post.is_some()),
        (Method::PUT, item.put.is_some()),
        (Method::PATCH, item.patch.is_some()),
        (Method::DELETE, item.delete.is_some()),
    ];
    known.into_iter().filter(|(_, there)| *there).map(|(method, _)| method).collect()
}
