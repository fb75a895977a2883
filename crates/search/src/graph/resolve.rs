//! Which definitions a call can mean, and how sure that is.

use super::modules::{Fit, fit};
use super::{Import, Reference};
use crate::store::{EdgeKind, Symbol};

/// A call with what is around it.
pub(crate) struct Site<'a> {
    pub(crate) file: &'a str,
    pub(crate) language: &'a str,
    pub(crate) reference: &'a Reference,
    /// The definition it stands in.
    pub(crate) from: Option<&'a Symbol>,
    pub(crate) imports: &'a [Import],
}

/// What a call means.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Resolution<'a> {
    /// These definitions, each with its confidence.
    Known(EdgeKind, Vec<(&'a Symbol, f32)>),
    /// Some method of that name; so many are known.
    Dynamic(usize),
    /// Nothing in the index.
    Outside,
}

/// More targets than this say nothing.
const MAX_TARGETS: usize = 3;

/// The name to look up for a reference: an alias is looked up by what it stands for.
pub(crate) fn looked_up<'a>(reference: &'a Reference, imports: &'a [Import]) -> &'a str {
    let alias = || imports.iter().find(|import| import.local == reference.name)?.name.as_deref();
    match &reference.qualifier {
        None => alias().filter(|name| *name != "default").unwrap_or(&reference.name),
        Some(_) => &reference.name,
    }
}

/// Decides among the definitions that have the looked-up name.
pub(crate) fn resolve<'a>(site: &Site<'_>, named: &'a [Symbol]) -> Resolution<'a> {
    let candidates: Vec<&Symbol> = named
        .iter()
        .filter(|symbol| !matches!(symbol.kind.as_str(), "impl" | "constant" | "module" | "property"))
        .collect();
    if candidates.is_empty() {
        return Resolution::Outside;
    }
    let found = if site.reference.on_self {
        own_method(site, &candidates)
    } else if site.reference.qualifier.is_none() {
        plain_call(site, &candidates)
    } else {
        qualified_call(site, &candidates)
    };
    if let Some((kind, confidence, targets)) = found.filter(|(_, _, targets)| !targets.is_empty()) {
        if targets.len() <= MAX_TARGETS {
            // Several equal targets share what is known: only one of them is meant.
            let each =
                if targets.len() == 1 { confidence } else { (confidence / targets.len() as f32).max(0.2) };
            return Resolution::Known(kind, targets.into_iter().map(|target| (target, each)).collect());
        }
        return Resolution::Dynamic(targets.len());
    }
    match site.reference.qualifier {
        Some(_) => by_name_alone(site, &candidates),
        None => Resolution::Outside,
    }
}

/// What an import means: the definition it names, in a file that it can mean.
pub(crate) fn imported<'a>(import: &Import, importer: &str, named: &'a [Symbol]) -> Vec<(&'a Symbol, f32)> {
    let fits = |wanted: Fit| -> Vec<&Symbol> {
        named
            .iter()
            .filter(|symbol| symbol.kind != "impl" && !symbol.qualified_name.contains('.'))
            .filter(|symbol| {
                symbol.rel_path != importer && fit(import, importer, &symbol.rel_path) == Some(wanted)
            })
            .collect()
    };
    let exact = fits(Fit::File);
    let (found, confidence) = if exact.is_empty() { (fits(Fit::Package), 0.6) } else { (exact, 0.9) };
    if found.len() > MAX_TARGETS {
        Vec::new()
    } else {
        found.into_iter().map(|symbol| (symbol, confidence)).collect()
    }
}

type Found<'a> = Option<(EdgeKind, f32, Vec<&'a Symbol>)>;

/// `self.m()`: a method of the same type.
fn own_method<'a>(site: &Site<'_>, candidates: &[&'a Symbol]) -> Found<'a> {
    let own = site.from.and_then(|from| type_around(from, candidates))?;
    let same_type: Vec<&Symbol> =
        candidates.iter().copied().filter(|symbol| owner(symbol) == Some(own)).collect();
    let here = in_file(&same_type, site.file);
    if here.is_empty() { Some((EdgeKind::Call, 0.8, same_type)) } else { Some((EdgeKind::Call, 0.95, here)) }
}

/// `f()`: nested here, a method of the same type where the language says so, in this file, imported, or near.
fn plain_call<'a>(site: &Site<'_>, candidates: &[&'a Symbol]) -> Found<'a> {
    let here = in_file(candidates, site.file);
    if let Some(from) = site.from {
        let prefix = format!("{}.", from.qualified_name);
        let nested: Vec<&Symbol> =
            here.iter().copied().filter(|symbol| symbol.qualified_name.starts_with(&prefix)).collect();
        if !nested.is_empty() {
            return Some((EdgeKind::Call, 0.95, nested));
        }
        if implicit_self(site.language) {
            let siblings: Vec<&Symbol> = here
                .iter()
                .copied()
                .filter(|symbol| owner(symbol).is_some() && owner(symbol) == owner(from))
                .collect();
            if !siblings.is_empty() {
                return Some((EdgeKind::Call, 0.92, siblings));
            }
        }
    }
    let free: Vec<&Symbol> = here.iter().copied().filter(|symbol| symbol.kind != "method").collect();
    if !free.is_empty() {
        return Some((EdgeKind::Call, 0.92, free));
    }
    let looked = |import: &&Import| {
        import.local == site.reference.name || import.local == "*" || import.local.is_empty()
    };
    let importing: Vec<&Import> = site.imports.iter().filter(looked).collect();
    for (wanted, confidence) in [(Fit::File, 0.9), (Fit::Package, 0.75)] {
        let imported: Vec<&Symbol> = candidates
            .iter()
            .copied()
            .filter(|symbol| symbol.kind != "method")
            .filter(|symbol| {
                importing.iter().any(|import| fit(import, site.file, &symbol.rel_path) == Some(wanted))
            })
            .collect();
        if !imported.is_empty() {
            return Some((EdgeKind::Call, confidence, imported));
        }
    }
    if package_scope(site.language) {
        let folder =
            |path: &str| path.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned());
        let near: Vec<&Symbol> = candidates
            .iter()
            .copied()
            .filter(|symbol| symbol.kind != "method" && folder(&symbol.rel_path) == folder(site.file))
            .collect();
        if !near.is_empty() {
            return Some((EdgeKind::Call, 0.8, near));
        }
    }
    if global_scope(site.language) {
        let free: Vec<&Symbol> =
            candidates.iter().copied().filter(|symbol| symbol.kind != "method").collect();
        return Some((EdgeKind::Call, 0.6, free));
    }
    None
}

/// `q.f()`: the qualifier is a type, an imported module, or a path.
fn qualified_call<'a>(site: &Site<'_>, candidates: &[&'a Symbol]) -> Found<'a> {
    let qualifier = site.reference.qualifier.as_deref()?;
    let parts: Vec<&str> = qualifier.split(['.', ':', '\\']).filter(|part| !part.is_empty()).collect();
    let (head, last) = (parts.first()?.trim_start_matches('$'), parts.last()?.trim_start_matches('$'));
    let bound = site.imports.iter().find(|import| import.local == head);
    let of_type: Vec<&Symbol> = candidates
        .iter()
        .copied()
        .filter(|symbol| {
            owner(symbol)
                == Some(
                    bound
                        .and_then(|import| import.name.as_deref())
                        .filter(|_| parts.len() == 1)
                        .unwrap_or(last),
                )
        })
        .collect();
    if !of_type.is_empty() {
        let here = in_file(&of_type, site.file);
        if !here.is_empty() {
            return Some((EdgeKind::Call, 0.92, here));
        }
        let imported: Vec<&Symbol> = of_type
            .iter()
            .copied()
            .filter(|symbol| bound.is_some_and(|import| fit(import, site.file, &symbol.rel_path).is_some()))
            .collect();
        return Some(if imported.is_empty() {
            (EdgeKind::Call, 0.78, of_type)
        } else {
            (EdgeKind::Call, 0.9, imported)
        });
    }
    // A module: the import that binds the head, with the rest of the qualifier after it; or a path by itself.
    let path = match bound {
        Some(import) => {
            let mut module = import.module.clone();
            for part in import.name.iter().map(String::as_str).chain(parts.iter().copied().skip(1)) {
                module = format!("{module}::{part}");
            }
            Import { module, ..Import::default() }
        }
        None if qualifier.contains("::") || head == "crate" || head == "super" => {
            Import { module: qualifier.to_owned(), ..Import::default() }
        }
        None => return None,
    };
    let plain = bound.filter(|_| parts.len() == 1);
    let in_module: Vec<&Symbol> = candidates
        .iter()
        .copied()
        .filter(|symbol| symbol.kind != "method")
        .filter(|symbol| {
            fit(&path, site.file, &symbol.rel_path) == Some(Fit::File)
                || plain.is_some_and(|import| fit(import, site.file, &symbol.rel_path) == Some(Fit::File))
        })
        .collect();
    Some((EdgeKind::Call, 0.88, in_module))
}

/// A method of a receiver whose type is not known here.
fn by_name_alone<'a>(site: &Site<'_>, candidates: &[&'a Symbol]) -> Resolution<'a> {
    let head = site.reference.qualifier.as_deref().unwrap_or_default();
    let head = head.split(['.', ':']).next().unwrap_or_default();
    let methods: Vec<&Symbol> = candidates.iter().copied().filter(|symbol| owner(symbol).is_some()).collect();
    // What is imported from outside is outside, whatever its methods are called.
    let foreign = site.imports.iter().any(|import| import.local == head);
    if methods.is_empty() || foreign {
        return Resolution::Outside;
    }
    let here = in_file(&methods, site.file);
    if here.len() == 1 {
        return Resolution::Known(EdgeKind::Dynamic, vec![(here[0], 0.72)]);
    }
    match methods.len() {
        1 => Resolution::Known(EdgeKind::Dynamic, vec![(methods[0], 0.62)]),
        2..=MAX_TARGETS => Resolution::Known(
            EdgeKind::Dynamic,
            methods.iter().map(|method| (*method, 0.62 / methods.len() as f32)).collect(),
        ),
        many => Resolution::Dynamic(many),
    }
}

fn in_file<'a>(symbols: &[&'a Symbol], file: &str) -> Vec<&'a Symbol> {
    symbols.iter().copied().filter(|symbol| symbol.rel_path == file).collect()
}

/// The name of what is right around a definition.
fn owner(symbol: &Symbol) -> Option<&str> {
    let (scopes, _) = symbol.qualified_name.rsplit_once('.')?;
    scopes.rsplit('.').next()
}

/// The type that a call on `self` stands in: the nearest scope around it that has a candidate.
fn type_around<'a>(from: &'a Symbol, candidates: &[&Symbol]) -> Option<&'a str> {
    let scopes = from.qualified_name.rsplit_once('.')?.0;
    scopes.rsplit('.').find(|scope| candidates.iter().any(|symbol| owner(symbol) == Some(scope)))
}

/// Languages where a bare name can be a method of the same type.
fn implicit_self(language: &str) -> bool {
    matches!(language, "java" | "csharp" | "cpp" | "ruby")
}

/// Languages where the files of a folder see each other's names.
fn package_scope(language: &str) -> bool {
    matches!(language, "go" | "java" | "csharp" | "c" | "cpp" | "php" | "bash" | "ruby")
}

/// Languages where any file may see any name without saying from where.
fn global_scope(language: &str) -> bool {
    matches!(language, "c" | "cpp" | "csharp" | "php" | "ruby" | "bash")
}
