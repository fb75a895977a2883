//! `chartroom search QUERY`: looks in an indexed folder.

use std::path::PathBuf;

use chartroom_index::brief;
use chartroom_protocol::index::{
    IndexStatus, ManageAction, ManageIndexParams, SearchAsk, SearchCodebaseParams, SearchCodebaseResponse,
    SearchResult, SearchScope,
};

use super::index::{check_there, open, print_json};
use super::words::{in_own_words, mending};
use super::{answer, block_on};
use crate::exit::{Failure, Outcome};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Words or identifiers; operators lang: path: -path: must: exclude: at the start
    #[arg(allow_hyphen_values = true)]
    query: String,
    /// The folder to search; an indexed one or one inside of it
    #[arg(long, default_value = ".", value_name = "DIR")]
    path: PathBuf,
    /// At most so many results
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=50))]
    limit: Option<u32>,
    /// Print one bundle of code of about so many tokens
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(200..=20_000))]
    budget: Option<u32>,
    /// What it is for
    #[arg(long, value_enum, default_value_t = Ask::Find)]
    ask: Ask,
    /// Which kinds of files
    #[arg(long, value_enum, default_value_t = Scope::Runtime)]
    scope: Scope,
    /// Index the folder first when it is not indexed yet
    #[arg(long)]
    create: bool,
    /// Print the tool's envelope
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Ask {
    /// Whatever the query looks like
    Find,
    /// Where to edit: the text of an issue in, files and symbols out
    Edit,
    /// How one thing works: its definition, callers, tests and docs
    Explain,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Scope {
    /// Code that runs
    Runtime,
    /// Everything
    Mixed,
    /// Docs and tests
    Docs,
}

pub(super) fn run(args: Args) -> Result<Outcome, Failure> {
    block_on(async {
        let service = open()?;
        let path = std::path::absolute(&args.path).unwrap_or_else(|_| args.path.clone());
        let path = path.to_string_lossy().into_owned();
        let params = SearchCodebaseParams {
            path: path.clone(),
            query: args.query,
            ask: match args.ask {
                Ask::Find => SearchAsk::Find,
                Ask::Edit => SearchAsk::Edit,
                Ask::Explain => SearchAsk::Explain,
            },
            scope: match args.scope {
                Scope::Runtime => SearchScope::Runtime,
                Scope::Mixed => SearchScope::Mixed,
                Scope::Docs => SearchScope::Docs,
            },
            result_mode: Default::default(),
            group_by: Default::default(),
            ranking_mode: Default::default(),
            limit: args.limit,
            budget: args.budget,
            detail: Default::default(),
            debug: false,
        };
        let mut found = service.search(params.clone()).await.map_err(|error| Failure::impossible(error.0))?;
        if args.create && found.status == IndexStatus::NotIndexed {
            service.manage(ManageIndexParams::new(ManageAction::Create, &path)).await;
            service.wait(&path).await;
            found = service.search(params).await.map_err(|error| Failure::impossible(error.0))?;
        }
        if found.status != IndexStatus::Ok {
            check_there(&args.path)?;
        }
        if args.json {
            print_json(&found)?;
        } else {
            answer(&render(&found, args.scope))?;
        }
        Ok(if found.status == IndexStatus::Ok { Outcome::Done } else { Outcome::NotOk })
    })
}

fn render(found: &SearchCodebaseResponse, scope: Scope) -> String {
    if found.status != IndexStatus::Ok {
        let message = in_own_words(found.message.as_deref().unwrap_or("no answer"), &found.path);
        let mending = mending(found.hints.as_ref()).map(|command| format!("Try: {command}\n"));
        return format!("{message}\n{}", mending.unwrap_or_default());
    }
    if found.bundle.is_some() {
        return in_own_words(&brief::search(found), &found.path);
    }
    let mut text = match scope {
        Scope::Runtime => "Code that runs; --scope mixed has tests and docs too.\n".to_owned(),
        Scope::Mixed | Scope::Docs => String::new(),
    };
    for warning in &found.warnings {
        text.push_str(&format!("{}: {}\n", warning.code, warning.message));
    }
    for result in &found.results {
        let (file, span, label, body) = match result {
            SearchResult::Group(group) => {
                (&group.file, group.span, group.symbol_label.as_deref(), &group.preview)
            }
            SearchResult::Chunk(chunk) => {
                (&chunk.file, chunk.span, chunk.symbol_label.as_deref(), &chunk.content)
            }
        };
        text.push_str(&format!("{file}:{}-{}", span.start_line, span.end_line));
        if let Some(label) = label {
            text.push_str(&format!("  {label}"));
        }
        if let SearchResult::Group(group) = result
            && let Some(role) = group.role
        {
            text.push_str(&format!("  [{}]", role.as_str()));
        }
        text.push('\n');
        for line in body.lines().take(6) {
            text.push_str(&format!("    {line}\n"));
        }
    }
    if found.results.is_empty() {
        text.push_str("nothing found\n");
    }
    text
}
