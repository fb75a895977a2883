// Generated from crates/protocol by `cargo xtask types`. Do not edit.

export type ActResponse = { 
/**
 * Whether it was done.
 */
done: boolean, 
/**
 * What git and the hooks said.
 */
output: string, 
/**
 * The checkpoint of the files before, if files may have changed.
 */
undo?: string, };

export type ActiveMutation = { 
/**
 * The action that runs, as `manage_index` names it.
 */
action: string, 
/**
 * The generation that it writes.
 */
generation: number, 
/**
 * The process that holds the lease.
 */
pid: number, 
/**
 * When it began, ISO 8601 UTC.
 */
acquiredAt: string, 
/**
 * Names its receipt.
 */
operationId: string, };

export type AddProjectParams = { 
/**
 * An existing folder, absolute; links are resolved.
 */
path: string, };

export type AddWorktreeParams = { 
/**
 * The new branch.
 */
branch: string, 
/**
 * The branch, tag or commit that it begins with; the last commit if none is named.
 */
from?: string, };

export type AddWorktreeResponse = { 
/**
 * The files that the user's config names and that were copied into it.
 */
copied: Array<string>, 
/**
 * What the set-up command of the user's config said, if there is one.
 */
setup?: CommandOutput, 
/**
 * Its name, by which it is brought back and removed.
 */
name: string, 
/**
 * Its folder.
 */
path: string, 
/**
 * Its branch.
 */
branch: string, 
/**
 * The commit that it began with.
 */
base: string, 
/**
 * The folder of the repository that it was made of.
 */
repository: string, 
/**
 * The set-up command of the user's config, while it runs and after; absent if there is none.
 */
preparing?: CommandRun, };

export type Agent = { 
/**
 * The config key that names it in every request.
 */
cliType: CliType, 
/**
 * The name that people read, e.g. "Claude Code".
 */
name: string, 
/**
 * Whether a session can be made with it now.
 */
status: AgentStatus, 
/**
 * The binary that would be started.
 */
path?: string, 
/**
 * The command that installs it.
 */
install: string, };

export type AgentListResponse = { 
/**
 * By config key.
 */
agents: Array<Agent>, };

export type AgentStatus = "found" | "missing";

export type AnswerParams = { 
/**
 * The question that is answered.
 */
questionId: QuestionId, 
/**
 * The user's decision; for a choice, `deny` declines to answer.
 */
decision: Decision, 
/**
 * With `deny`: what the agent should do instead.
 */
message?: string, 
/**
 * With `allow_always`: which of the question's grants; without it the narrowest. One that was not offered grants
 * nothing, and the tool runs this once.
 */
grantId?: string, 
/**
 * For a choice: question text to chosen label (several joined by ", ").
 */
answers?: { [key in string]: string }, };

export type ArchiveParams = { 
/**
 * False puts it back into the list.
 */
archived: boolean, };

export type BlameResponse = { 
/**
 * Runs of lines of one commit, from the first line to the last.
 */
runs: Array<BlameRun>, };

export type BlameRun = { 
/**
 * The first of the lines, from 1.
 */
line: number, 
/**
 * How many.
 */
lines: number, 
/**
 * The commit; nothing for lines that are not committed.
 */
commit?: string, 
/**
 * Who wrote it.
 */
author: string, 
/**
 * When, in seconds since 1970.
 */
at: number, 
/**
 * The first line of its message.
 */
summary: string, };

export type BringHow = "merge" | "squash" | "rebase" | "apply";

export type BringParams = { 
/**
 * The branch that it comes to.
 */
onto: string, 
/**
 * How.
 */
how: BringHow, };

export type BringResponse = { 
/**
 * Whether it was done. If not, nothing has changed.
 */
brought: boolean, 
/**
 * What the branch is now; absent when nothing was committed.
 */
commit?: string, 
/**
 * What the branch was before.
 */
before?: string, 
/**
 * Files that both have changed, each in its own way.
 */
conflicts: Array<string>, 
/**
 * Why it was not done, in words.
 */
reason?: string, 
/**
 * The checkpoint of the branch's folder before it, if its files changed.
 */
undo?: string, };

export type Bundle = { 
/**
 * How sure it is.
 */
confidence: SearchConfidence, 
/**
 * What to do when that is low, in sentences.
 */
advice?: Array<string>, 
/**
 * The best first.
 */
files: Array<BundleFile>, 
/**
 * Results for which there was no room.
 */
nLeftOut: number, };

export type BundleFile = { 
/**
 * Relative to the root.
 */
file: string, 
/**
 * By their lines.
 */
pieces: Array<BundlePiece>, };

export type BundlePiece = { 
/**
 * Their numbers.
 */
span: Span, 
/**
 * The definitions that were found in them, as the outline writes them.
 */
symbols: Array<string>, 
/**
 * Which words of the query stand where.
 */
why: string, 
/**
 * The lines.
 */
text: string, };

export type CallGraphHint = { 
/**
 * Whether it can be asked about.
 */
supported: boolean, 
/**
 * With `supported`: what to ask with.
 */
symbolRef?: SymbolRef, 
/**
 * Without `supported`: why not.
 */
reason?: CallGraphUnsupported, };

export type CallGraphUnsupported = "missing_symbol" | "unsupported_language";

export type CallId = string;

export type ChangedFile = { 
/**
 * Below the top of the working tree; bytes that are no text are replaced.
 */
path: string, 
/**
 * What happened to it.
 */
status: FileStatus, 
/**
 * What it was called.
 */
from?: string, 
/**
 * Lines that came.
 */
added: number, 
/**
 * Lines that went.
 */
removed: number, 
/**
 * Whether it has no lines.
 */
binary: boolean, 
/**
 * What it was, when versions were asked for and there was a file.
 */
before?: FileVersion, 
/**
 * What it is, when versions were asked for and there is a file.
 */
after?: FileVersion, };

export type Changes = { 
/**
 * What was compared: a checkpoint, or a commit.
 */
base: string, 
/**
 * With what: a checkpoint, or `working tree`.
 */
head: string, 
/**
 * By path.
 */
files: Array<ChangedFile>, 
/**
 * As git writes it, when it was asked for.
 */
patch?: string, 
/**
 * The lines of so many files were not counted: `added`, `removed` and `binary` say nothing.
 */
uncounted?: boolean, };

export type CheckOutcome = { 
/**
 * The server's id.
 */
id: string, 
/**
 * The project root it serves, relative to the workspace.
 */
root: string, } & ({ "outcome": "answered", 
/**
 * Whether the answer can be relied on.
 */
freshness: Freshness, 
/**
 * What the server itself says: why it cannot load the project, what is wrong with its configuration.
 */
said?: string, } | { "outcome": "absent", 
/**
 * Its state.
 */
status: ServerState, 
/**
 * Why it could not run.
 */
reason?: string, 
/**
 * The command that mends it.
 */
hint?: string, });

export type CheckResponse = { 
/**
 * In the order they were asked for; a refused file has no diagnostics and a reason.
 */
files: Array<FileDiagnostics>, 
/**
 * By path; only with `CheckScope::Project`.
 */
others: Array<FileDiagnostics>, 
/**
 * Files that may depend on the changed ones and of which nothing current is known, by path; only with
 * `CheckScope::Project`.
 */
unknown?: Array<string>, 
/**
 * By server id, then root.
 */
servers: Array<CheckOutcome>, 
/**
 * The diagnostic epoch after the check.
 */
epoch: number, };

export type ChoiceOption = { 
/**
 * The answer, as it is sent back.
 */
label: string, 
/**
 * What choosing it means.
 */
description: string, };

export type ChoiceQuestion = { 
/**
 * The sentence; it is also the key of its answer.
 */
question: string, 
/**
 * One or two words for a tab.
 */
header: string, 
/**
 * Whether several options may be chosen.
 */
multiSelect: boolean, 
/**
 * In the agent's order; the user may also write an answer of their own.
 */
options: Array<ChoiceOption>, };

export type CliType = string;

export type ClientFrame = { 
/**
 * Chosen by the browser; repeated in the answer.
 */
requestId?: string, } & ({ "type": "subscribe", 
/**
 * The session to follow.
 */
sessionId: SessionId, 
/**
 * The last seq this browser has; the server sends what is missing.
 */
afterSeq?: number, } | { "type": "unsubscribe", 
/**
 * The session that is no longer followed.
 */
sessionId: SessionId, } | { "type": "load", 
/**
 * The session to load.
 */
sessionId: SessionId, } | { "type": "send", 
/**
 * The session that gets it.
 */
sessionId: SessionId, 
/**
 * The body of the route.
 */
params: SendParams, } | { "type": "cancel", 
/**
 * The session whose turn is stopped.
 */
sessionId: SessionId, } | { "type": "kill", 
/**
 * The session whose agent is ended.
 */
sessionId: SessionId, } | { "type": "answer", 
/**
 * The session that asked.
 */
sessionId: SessionId, 
/**
 * The body of the route.
 */
params: AnswerParams, } | { "type": "queue", 
/**
 * The session whose queue it is.
 */
sessionId: SessionId, 
/**
 * The body of the route.
 */
change: QueueParams, } | { "type": "model", 
/**
 * The session to switch.
 */
sessionId: SessionId, 
/**
 * The body of the route.
 */
params: SetModelParams, } | { "type": "mode", 
/**
 * The session to switch.
 */
sessionId: SessionId, 
/**
 * The body of the route.
 */
params: SetModeParams, });

export type Code = number | string;

export type CodebaseBucket = "ready" | "indexing" | "requires_reindex" | "failed";

export type CommandOutput = { 
/**
 * The command, word by word.
 */
command: Array<string>, 
/**
 * Whether it ended well.
 */
ok: boolean, 
/**
 * What it said, and how it ended if that was not well.
 */
output: string, };

export type CommandRun = { 
/**
 * The command, word by word.
 */
command: Array<string>, 
/**
 * Where it is.
 */
state: RunState, 
/**
 * What it has said, the end of it if that is much.
 */
output: string, 
/**
 * How long it took, once it has ended.
 */
durationMs?: number, };

export type Comment = { 
/**
 * Whoever writes it chooses it.
 */
commentId: string, 
/**
 * The file, below the top of the working tree.
 */
path: string, 
/**
 * Whether the lines are those that were, or those that are.
 */
side: CommentSide, 
/**
 * The first line, from 1.
 */
firstLine: number, 
/**
 * The last one.
 */
lastLine: number, 
/**
 * The lines as they were when it was written.
 */
quote: string, 
/**
 * What is said about them.
 */
text: string, 
/**
 * How far it has come.
 */
state: CommentState, };

export type CommentSide = "before" | "after";

export type CommentState = "open" | "sent" | "resolved";

export type CommitParams = { 
/**
 * What the commit says; of an amended one the old words if it is absent.
 */
message?: string, 
/**
 * Replace the last commit.
 */
amend: boolean, 
/**
 * Stage everything first.
 */
all: boolean, };

export type CommitResponse = { 
/**
 * Whether there is a new commit. If not, nothing has changed.
 */
committed: boolean, 
/**
 * The last commit now.
 */
commit?: string, 
/**
 * What it was before.
 */
before?: string, 
/**
 * What git and the hooks said.
 */
output: string, 
/**
 * The checkpoint of the files before: hooks may change them.
 */
undo?: string, };

export type Compatibility = { 
/**
 * `provider/model/dimension/store/schema`.
 */
runtimeFingerprint: string, 
/**
 * What the index was made with.
 */
indexedFingerprint?: string, 
/**
 * How that is known.
 */
fingerprintSource?: FingerprintSource, 
/**
 * Why the index cannot be used, if it cannot.
 */
reindexReason?: ReindexReason, 
/**
 * The catalog's state when this was looked at, or `not_found`.
 */
statusAtCheck: string, };

export type Confidence = "high" | "low";

export type ContextCategory = { 
/**
 * The agent's own word, e.g. "System prompt" or "Messages".
 */
name: string, 
/**
 * The agent's estimate.
 */
tokens: number, };

export type ContextResponse = { "status": "known", 
/**
 * Its own figures.
 */
context: ContextUse, } | { "status": "not_told" } | { "status": "not_running" };

export type ContextUse = { 
/**
 * What is in use. The agent may have it from the model's own count of the last request, while the categories
 * are its estimates: they need not add up to it.
 */
totalTokens: number, 
/**
 * What fits.
 */
maxTokens: number, 
/**
 * What is kept free on purpose, so that the agent can sum up the conversation when it gets too long.
 */
reservedTokens: number, 
/**
 * What is in use, in the agent's own order. Neither free nor reserved space is a category, nor is what would be
 * loaded only when needed.
 */
categories: Array<ContextCategory>, };

export type CreateSessionParams = { 
/**
 * The agent to start.
 */
cliType: CliType, 
/**
 * The folder it works in, absolute; it must be trusted.
 */
projectDir: string, 
/**
 * The agent's own name of a model; its default when absent.
 */
model?: string, 
/**
 * The agent's own id of a permission mode; its default when absent.
 */
mode?: string, 
/**
 * Passed to the provider as it is, which takes what it knows, e.g. `maxThinkingTokens`.
 */
providerOptions?: Record<string, unknown>, 
/**
 * Work in a new worktree of the folder's repository instead, which is made first.
 */
worktree?: AddWorktreeParams, };

export type DebugIndexing = { 
/**
 * `marker_doc`.
 */
completionProof: string, };

export type DebugProofCheck = { 
/**
 * Always false; a proof that holds is not told.
 */
ok: boolean, 
/**
 * `probe_failed`.
 */
reason: ProofReason, 
/**
 * The store's own words.
 */
detail?: string, };

export type Decision = "allow" | "allow_always" | "deny";

export type Detail = "brief" | "full";

export type Device = { 
/**
 * Names it, and opens nothing.
 */
deviceId: string, 
/**
 * What the browser calls itself.
 */
browser: string, 
/**
 * When it was let in, in seconds since 1970.
 */
enteredAt: number, 
/**
 * Until when it may come, in seconds since 1970.
 */
expiresAt: number, };

export type DeviceListResponse = { 
/**
 * The one that was let in first comes first.
 */
devices: Array<Device>, };

export type Diagnostic = { 
/**
 * Relative to the workspace root, with `/` between segments.
 */
file: string, 
/**
 * 1-based.
 */
line: number, 
/**
 * 1-based, counted in characters and not in UTF-16 units.
 */
character: number, 
/**
 * How bad it is.
 */
severity: Severity, 
/**
 * One line. It is escaped where a text for a model is made of it.
 */
message: string, 
/**
 * The server's code, where it has one.
 */
code?: Code, 
/**
 * Who says it, e.g. `ts` or `rustc`.
 */
source?: string, };

export type DiffHunk = { 
/**
 * The first line in the old file, 1-based.
 */
oldStart: number, 
/**
 * The first line in the new file, 1-based.
 */
newStart: number, 
/**
 * Removed lines stand before the added ones that replace them.
 */
lines: Array<DiffLine>, };

export type DiffLine = { 
/**
 * Whether it was added, removed or left alone.
 */
kind: DiffLineKind, 
/**
 * The line in runs; `changed` runs are the intra-line marks.
 */
spans: Array<DiffSpan>, };

export type DiffLineKind = "context" | "added" | "removed";

export type DiffSize = { 
/**
 * Files.
 */
files: number, 
/**
 * Lines that came.
 */
added: number, 
/**
 * Lines that went.
 */
removed: number, };

export type DiffSpan = { 
/**
 * The characters; all spans together are the line.
 */
text: string, 
/**
 * It differs from the line that it replaces or that replaces it.
 */
changed?: boolean, };

export type DoneResponse = Record<symbol, never>;

export type EndTriesResponse = { 
/**
 * Whether it was done. If not, nothing has changed.
 */
done: boolean, 
/**
 * What came of bringing the kept one's work back; absent if it was not begun.
 */
brought?: BringResponse, 
/**
 * The others: what was removed, or what would be lost.
 */
others: Array<EndedTry>, };

export type EndedTry = { 
/**
 * Its name.
 */
name: string, 
/**
 * Whether it was removed. If not, nothing has changed.
 */
removed: boolean, 
/**
 * Files that are not committed and that were not brought back.
 */
uncommitted: Array<string>, 
/**
 * Commits that no other branch has and that were not brought back.
 */
commits: Array<string>, 
/**
 * What its branch was; the branch is removed with it.
 */
commit: string, 
/**
 * The checkpoint of its files, if any of them would have been lost.
 */
undo?: string, };

export type EnterParams = { 
/**
 * The code that the launch link left in the address, behind the `#`.
 */
code: string, };

export type EnterResponse = { 
/**
 * What every request of the page carries beside its cookie.
 */
key: string, };

export type ErrorBody = { 
/**
 * Says which kind of failure it is; clients decide by it.
 */
code: ErrorCode, 
/**
 * What is wrong, where, and what to do about it.
 */
message: string, };

export type ErrorCode = "UNSUPPORTED_CLI_TYPE" | "SESSION_NOT_FOUND" | "PROCESS_CRASH" | "PROTOCOL_ERROR" | "INVALID_STREAM_EVENT" | "INTERRUPT_FAILED" | "SESSION_CREATE_FAILED" | "RESPONSE_ERROR" | "PROJECT_ID_REQUIRED" | "INVALID_PATH" | "DUPLICATE_PROJECT" | "NOT_FOUND" | "WORKSPACE_UNTRUSTED" | "QUESTION_NOT_FOUND" | "QUEUED_MESSAGE_NOT_FOUND" | "AGENT_NOT_INSTALLED" | "NOT_SUPPORTED" | "INSTALL_FAILED" | "TOO_MANY_TERMINALS" | "MESSAGE_TOO_LARGE" | "INVALID_REQUEST" | "UNAUTHORIZED" | "FORBIDDEN_ORIGIN" | "FORBIDDEN_HOST" | "FORBIDDEN_PROCESS" | "UNSUPPORTED_MEDIA_TYPE" | "PAYLOAD_TOO_LARGE" | "METHOD_NOT_ALLOWED" | "INTERNAL";

export type ErrorResponse = { 
/**
 * What went wrong.
 */
error: ErrorBody, };

export type FileDiagnostics = { 
/**
 * Relative to the workspace root.
 */
file: string, 
/**
 * By line, character, severity, message.
 */
diagnostics: Array<Diagnostic>, 
/**
 * Why the file was not checked: outside the workspace, missing, binary, no server for it.
 */
refused?: string, 
/**
 * How each of its servers took part, by id, then root. Without a current one the file is not known to be clean.
 */
servers?: Array<CheckOutcome>, };

export type FileDiff = { 
/**
 * As the agent named it.
 */
path: string, 
/**
 * Lines added in the whole file, also those of hunks left out.
 */
added: number, 
/**
 * Lines removed in the whole file, also those of hunks left out.
 */
removed: number, 
/**
 * In the order of the file.
 */
hunks: Array<DiffHunk>, 
/**
 * True when hunks were left out because the change is larger than a person would read.
 */
truncated?: boolean, };

export type FileKind = "text" | "image" | "binary";

export type FileLinesResponse = { 
/**
 * Relative to the project, with `/` between segments.
 */
path: string, 
/**
 * The number of the first of the lines, from 1.
 */
firstLine: number, 
/**
 * Without their line breaks.
 */
lines: Array<string>, 
/**
 * How many lines the file has.
 */
totalLines: number, };

export type FileListResponse = { 
/**
 * Relative to the project, with `/` between segments.
 */
files: Array<string>, 
/**
 * More files match than are listed.
 */
truncated: boolean, };

export type FileOutlineResponse = { 
/**
 * Whether the outline could be given.
 */
status: IndexStatus, 
/**
 * Why not, because of the index's state.
 */
reason?: NonOkReason, 
/**
 * As asked.
 */
path: string, 
/**
 * The root that answers; absent when none encloses the path.
 */
codebasePath?: string, 
/**
 * As asked.
 */
file: string, 
/**
 * The symbols; null when the status is not `ok`.
 */
outline: Outline | null, 
/**
 * More symbols exist than the limit lets through.
 */
hasMore: boolean, 
/**
 * What the caller should know beside the answer.
 */
warnings?: Array<Warning>, 
/**
 * A sentence for people, when the status is not `ok`.
 */
message?: string, 
/**
 * What a caller can do next.
 */
hints?: Hints, 
/**
 * How far a running build is.
 */
indexing?: IndexingProgress, 
/**
 * What the index was made with, when that matters.
 */
compatibility?: Compatibility, };

export type FilePatch = { 
/**
 * Hunks as git writes them, each from its `@@` on.
 */
patch: string, 
/**
 * Whether it is longer than anybody would read, and was cut.
 */
truncated?: boolean, };

export type FilePlace = { 
/**
 * Relative to the folder; absolute for a file outside of it, which cannot be opened here.
 */
path: string, 
/**
 * From 1.
 */
line: number, 
/**
 * In characters, from 1.
 */
column: number, 
/**
 * The line itself, without what it begins with, if the file is in the folder.
 */
text?: string, };

export type FilePlacesResponse = { 
/**
 * In the order of their paths and lines.
 */
places: Array<FilePlace>, 
/**
 * Why there are none, or not all: what the language server said.
 */
note?: string, };

export type FileStatus = "added" | "modified" | "deleted" | "renamed" | "untracked";

export type FileVersion = { 
/**
 * The id of the content: the same bytes have the same.
 */
id: string, 
/**
 * As git writes it: `100644`, `100755`, `120000` of a link, `160000` of a submodule.
 */
mode: string, };

export type FingerprintSource = "verified" | "assumed_v2";

export type FolderListResponse = { 
/**
 * The user's home, which `~` stands for.
 */
home: string, 
/**
 * Absolute paths, by name.
 */
folders: Array<string>, 
/**
 * More folders match than are listed.
 */
truncated: boolean, };

export type ForkParams = { 
/**
 * The last turn that the new session knows of; the last one of all if none is named.
 */
at?: TurnId, };

export type ForkResponse = { 
/**
 * The new session.
 */
session?: SessionId, 
/**
 * What the session's agent cannot do, in words, and what was done instead.
 */
cannot?: string, };

export type Freshness = "current" | "loading" | "timed-out" | "failed";

export type FreshnessDecision = { 
/**
 * What the check did.
 */
mode: FreshnessMode, 
/**
 * ISO 8601 UTC.
 */
checkedAt?: string, 
/**
 * How old the last sync may be before another is made.
 */
thresholdMs?: number, 
/**
 * When the index last equalled the folder, ISO 8601 UTC.
 */
lastSyncAt?: string, 
/**
 * How long ago that was.
 */
ageMs?: number, 
/**
 * What the sync found.
 */
stats?: SyncStats, 
/**
 * Counts the changes of the ignore rules that the index followed.
 */
ignoreRulesVersion?: number, 
/**
 * After a change of the ignore rules: files removed because they are gone.
 */
deletedFiles?: number, 
/**
 * After a change of the ignore rules: files removed because of it.
 */
newlyIgnoredFiles?: number, 
/**
 * After a change of the ignore rules: files that came back in.
 */
addedFiles?: number, 
/**
 * How long the sync took.
 */
durationMs?: number, 
/**
 * Why the sync or the new rules failed.
 */
errorMessage?: string, 
/**
 * Whether a plain sync was made when the new rules could not be followed.
 */
fallbackSyncExecuted?: boolean, 
/**
 * What that plain sync found.
 */
fallbackStats?: SyncStats, 
/**
 * What a team shares of this codebase, and how this folder differs from it.
 */
team?: TeamOverlay, };

export type FreshnessMode = "synced" | "skipped_recent" | "coalesced" | "skipped_indexing" | "skipped_requires_reindex" | "skipped_missing_path" | "skipped_vanished_files" | "reconciled_ignore_change" | "ignore_reload_failed" | "sync_failed";

export type Grant = { 
/**
 * Names it in the answer.
 */
grantId: string, 
/**
 * What will run unasked, e.g. "`npm test` with any arguments".
 */
what: string, 
/**
 * Where it holds, and for how long.
 */
scope: GrantScope, 
/**
 * Whether it lets more through than what is asked about now.
 */
isWider: boolean, };

export type GrantScope = "session" | "project" | "shared_project" | "everywhere" | "as_the_agent_says";

export type GroupBy = "symbol" | "file";

export type HealthResponse = { 
/**
 * Always `ok`: a server that is not well does not answer.
 */
status: string, 
/**
 * The version of this binary.
 */
version: string, 
/**
 * How long the server has been running.
 */
uptimeMs: number, };

export type Hints = { 
/**
 * 1, in search answers.
 */
version?: number, 
/**
 * Builds an index.
 */
create?: ManageHint, 
/**
 * Builds the index anew.
 */
reindex?: ManageHint, 
/**
 * Tells how far a build is.
 */
status?: ManageHint, 
/**
 * Follows the changes of the folder.
 */
sync?: ManageHint, 
/**
 * Removes the index.
 */
clear?: ManageHint, 
/**
 * Rebuilds although a sync would do.
 */
overrideReindex?: ManageHint, 
/**
 * The catalog says indexed, and the store has no proof of it.
 */
staleLocal?: StaleLocal, 
/**
 * The proof could not be checked.
 */
debugProofCheck?: DebugProofCheck, 
/**
 * How the running build will prove itself.
 */
debugIndexing?: DebugIndexing, 
/**
 * How far the running build is.
 */
indexing?: IndexingProgress, 
/**
 * When asking again makes sense.
 */
retryAfterMs?: number, 
/**
 * Who is changing this codebase right now.
 */
activeMutation?: ActiveMutation, 
/**
 * Who else uses the data folder with another setup.
 */
runtimeOwners?: Array<RuntimeOwner>, 
/**
 * Most of the top results are not code that runs.
 */
noiseMitigation?: NoiseMitigation, 
/**
 * How the ranking came about; only with `debug`.
 */
debugSearch?: JsonValue, 
/**
 * The file endings that have symbols.
 */
supportedExtensions?: Array<string>, 
/**
 * The languages that have calls.
 */
supportedLanguages?: Array<string>, 
/**
 * Calls that fit the answer, the best first.
 */
nextSteps?: Array<ToolHint>, };

export type ImageData = { 
/**
 * `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
 */
mediaType: string, 
/**
 * Base64, without a data: prefix.
 */
data: string, };

export type IndexStatus = "ok" | "not_ready" | "not_indexed" | "requires_reindex" | "blocked" | "error" | "not_found" | "unsupported" | "ambiguous";

export type IndexingProgress = { 
/**
 * 0..100, one decimal.
 */
progressPct: number, 
/**
 * ISO 8601 UTC.
 */
lastUpdated: string, 
/**
 * What the build is doing.
 */
phase: string | null, 
/**
 * Files that are stored.
 */
filesDone?: number, 
/**
 * Files that will be stored.
 */
filesTotal?: number, 
/**
 * Chunks that are stored.
 */
chunks?: number, 
/**
 * Since the build began.
 */
chunksPerSecond?: number, };

export type InstallListResponse = { 
/**
 * By id.
 */
servers: Array<Installable>, };

export type InstallParams = { 
/**
 * The server's id.
 */
id: string, };

export type InstallResponse = { 
/**
 * The server's id.
 */
id: string, 
/**
 * The package manager that brought it.
 */
manager: string, 
/**
 * The program, in the data folder.
 */
path: string, };

export type Installable = { 
/**
 * The server's id.
 */
id: string, 
/**
 * What it knows, for people.
 */
language: string, 
/**
 * Whether it was installed into the data folder.
 */
installed: boolean, 
/**
 * The package manager of this machine that would bring it; none when it has to be installed by hand.
 */
manager?: string, 
/**
 * Commands with which a person installs it, or an address.
 */
hints: Array<string>, };

export type ItemId = string;

export type JsonValue = number | string | boolean | Array<JsonValue> | { [key in string]: JsonValue } | null;

export type KeepParams = { 
/**
 * Files and folders below the top of the repository; with neither these nor hunks, everything.
 */
paths?: Array<string>, 
/**
 * Hunks as a patch, as `git diff` writes it; nothing else is touched.
 */
patch?: string, 
/**
 * Of `revert`: what this turn of a session changed, in `paths` if some are named, and nothing that came later in the
 * same place.
 */
turn?: TurnOf, };

export type KeepResponse = { 
/**
 * Whether it was done. If not, nothing has changed.
 */
done: boolean, 
/**
 * Why not, in words.
 */
reason?: string, 
/**
 * The checkpoint of the files before, if files were changed.
 */
undo?: string, };

export type KeepTryParams = { 
/**
 * The one that is kept.
 */
name: string, 
/**
 * How its work comes back; as uncommitted changes if it is not said.
 */
how?: BringHow, 
/**
 * The branch that it comes to; the one of the repository's folder if none is named.
 */
onto?: string, 
/**
 * Remove the others also when work would be lost; what is not committed is recorded first.
 */
force?: boolean, };

export type ListCodebasesResponse = { 
/**
 * By bucket, then by path.
 */
codebases: Array<ListedCodebase>, 
/**
 * How many there are.
 */
total: number, 
/**
 * The catalog was damaged and set aside, say.
 */
notices?: Array<string>, };

export type ListedCodebase = { 
/**
 * The canonical root.
 */
path: string, 
/**
 * The heading it stands under.
 */
bucket: CodebaseBucket, 
/**
 * Why it is in this bucket, for `requires_reindex` and `failed`.
 */
reason?: string, 
/**
 * 0..100, while it is being built.
 */
progressPct?: number, 
/**
 * The folder is not there now (an unmounted disk, say); the entry is kept.
 */
missing?: boolean, 
/**
 * Files in the published generation.
 */
indexedFiles?: number, 
/**
 * Chunks in the published generation.
 */
totalChunks?: number, 
/**
 * ISO 8601 UTC.
 */
lastUpdated?: string, };

export type LspStatusResponse = { 
/**
 * The workspace root.
 */
root: string, 
/**
 * Why there is no language service at all (`LSP disabled by configuration`, `LSP unavailable: …`).
 */
unavailable?: string, 
/**
 * By id, then by root.
 */
servers: Array<ServerStatus>, };

export type ManageAction = "create" | "reindex" | "sync" | "status" | "clear" | "repair";

export type ManageHint = { 
/**
 * `manage_index`.
 */
tool: string, 
/**
 * Complete: the call needs nothing else.
 */
args: ManageHintArgs, };

export type ManageHintArgs = { 
/**
 * What it would do.
 */
action: ManageAction, 
/**
 * The root it would do it to.
 */
path: string, 
/**
 * With create: rebuild an index that is there.
 */
force?: boolean, 
/**
 * With reindex: rebuild although a sync would do.
 */
allowUnnecessaryReindex?: boolean, };

export type ManageIndexParams = { 
/**
 * What to do.
 */
action: ManageAction, 
/**
 * The folder, absolute.
 */
path: string, 
/**
 * create only: rebuild an index that is there.
 */
force: boolean, 
/**
 * reindex only: rebuild even if only ignore files changed.
 */
allowUnnecessaryReindex: boolean, 
/**
 * create only: more file extensions; kept for this codebase.
 */
customExtensions?: Array<string>, 
/**
 * create only: more ignore patterns (gitignore syntax); kept for this codebase.
 */
ignorePatterns?: Array<string>, 
/**
 * create, Zilliz Cloud only: a collection to drop when the collection limit is reached.
 */
zillizDropCollection?: string, };

export type ManageIndexResponse = { 
/**
 * `manage_index`.
 */
tool: string, 
/**
 * 1.
 */
version: number, 
/**
 * As asked.
 */
action: ManageAction, 
/**
 * The canonical root.
 */
path: string, 
/**
 * How it came out.
 */
status: IndexStatus, 
/**
 * Why the status is not `ok`.
 */
reason?: ManageReason, 
/**
 * A sentence for programs' logs; the same as `humanText`.
 */
message: string, 
/**
 * What a person or a model reads.
 */
humanText: string, 
/**
 * What the caller should know beside the answer.
 */
warnings?: Array<Warning>, 
/**
 * What a caller can do next.
 */
hints?: Hints, 
/**
 * reindex only: what was found before it.
 */
preflight?: Preflight, 
/**
 * repair only: what could be proven.
 */
repairProof?: RepairProof, 
/**
 * What the index was made with.
 */
compatibility?: Compatibility, 
/**
 * sync only: what was found and done.
 */
freshnessDecision?: FreshnessDecision, 
/**
 * The receipt of the last mutation, or of the one that was begun.
 */
operation?: Operation, 
/**
 * status only: files that are in the folder and not in the index.
 */
skipped?: SkippedFiles, };

export type ManageReason = "indexing" | "not_indexed" | "requires_reindex" | "unnecessary_reindex_ignore_only" | "preflight_unknown" | "mutation_in_progress" | "runtime_owner_conflict" | "needs_create";

export type NamedOption = { 
/**
 * What is sent to the agent.
 */
id: string, 
/**
 * What people read.
 */
name: string, 
/**
 * One line of the agent's own; it may be empty.
 */
description: string, };

export type NavigationContext = { 
/**
 * The canonical root.
 */
codebaseRoot: string, 
/**
 * Relative to that root.
 */
relativeFile: string, 
/**
 * The two joined.
 */
absolutePath: string, };

export type NavigationFallback = { 
/**
 * Always [`NavigationFallback::MESSAGE`].
 */
message: string, 
/**
 * Where the result is.
 */
context: NavigationContext, 
/**
 * Reads the result's lines.
 */
readSpan: ToolHint, 
/**
 * Lists the symbols around it, where the file has symbols.
 */
fileOutlineWindow?: ToolHint, };

export type NoiseMitigation = { 
/**
 * `top_results_noise_dominant`.
 */
reason: string, 
/**
 * How many results were looked at.
 */
topK: number, 
/**
 * What they are.
 */
ratios: NoiseRatios, 
/**
 * The scope that leaves the noise out.
 */
recommendedScope: SearchScope, 
/**
 * For `.chartroomignore`, in gitignore syntax.
 */
suggestedIgnorePatterns: Array<string>, 
/**
 * After this long a changed ignore file counts.
 */
debounceMs: number, 
/**
 * A sentence for people.
 */
nextStep: string, };

export type NoiseRatios = { 
/**
 * Test files.
 */
tests: number, 
/**
 * Fixtures of tests.
 */
fixtures: number, 
/**
 * Documentation.
 */
docs: number, 
/**
 * Generated files.
 */
generated: number, 
/**
 * Code that runs.
 */
runtime: number, };

export type NonOkReason = "indexing" | "requires_reindex" | "not_indexed" | "missing_symbol" | "unsupported_language" | "missing_sidecar";

export type OpenTerminalParams = { 
/**
 * The project in whose folder it begins.
 */
projectId: ProjectId, 
/**
 * A session of the project: the shell begins in its folder, which may be a worktree.
 */
sessionId?: SessionId, 
/**
 * Characters in a row.
 */
columns: number, 
/**
 * Rows.
 */
rows: number, };

export type Operation = { 
/**
 * `run_<uuid>`.
 */
operationId: string, 
/**
 * What is done.
 */
action: ManageAction, 
/**
 * The canonical root.
 */
root: string, 
/**
 * The generation that it writes.
 */
generation: number, 
/**
 * ISO 8601 UTC.
 */
acceptedAt: string, 
/**
 * Where it is.
 */
phase: OperationPhase, 
/**
 * When it got there, ISO 8601 UTC.
 */
transitionAt: string, 
/**
 * What it indexes with.
 */
fingerprint: string, 
/**
 * The pid of the process that does it.
 */
writer: number, 
/**
 * Why it failed.
 */
message?: string, };

export type OperationPhase = "accepted" | "scanning" | "processing" | "publishing" | "completed" | "failed" | "blocked" | "cancelled";

export type Origin = "user" | "agent" | "system";

export type Outline = { 
/**
 * In the order of the file.
 */
symbols: Array<OutlineSymbol>, };

export type OutlineSymbol = { 
/**
 * Names it in other questions.
 */
symbolId: string, 
/**
 * E.g. `method Store.open(path)`.
 */
symbolLabel: string, 
/**
 * function, method, class, ….
 */
kind: string, 
/**
 * Its definition, from the first line to the last.
 */
span: Span, 
/**
 * Whether its calls are known.
 */
callGraphHint: CallGraphHint, };

export type Preflight = { 
/**
 * What was found.
 */
outcome: PreflightOutcome, 
/**
 * How sure that is.
 */
confidence: Confidence, 
/**
 * Whether git could not be asked.
 */
probeFailed: boolean, };

export type PreflightOutcome = "reindex_required" | "probe_failed" | "reindex_unnecessary_ignore_only" | "unknown";

export type Project = { 
/**
 * Names it in every request; it stays the same while the project is kept.
 */
projectId: ProjectId, 
/**
 * The canonical path.
 */
path: string, 
/**
 * The last segment of the path.
 */
name: string, 
/**
 * Whether agents and language servers may be started in it.
 */
trusted: boolean, 
/**
 * The folder is gone (an unmounted disk, say); the project is kept.
 */
missing?: boolean, 
/**
 * The sandbox of its agents, e.g. `workspace (landlock)`; absent when they have none.
 */
sandbox?: string, 
/**
 * What it is, if it is a worktree of our making.
 */
worktree?: ProjectWorktree, };

export type ProjectId = string;

export type ProjectListResponse = { 
/**
 * By name, then by path.
 */
projects: Array<Project>, };

export type ProjectServersResponse = { 
/**
 * The ids of the servers for the languages that the folder's files are in, sorted.
 */
servers: Array<string>, };

export type ProjectWorktree = { 
/**
 * Its name, by which it is brought back and removed.
 */
name: string, 
/**
 * Its branch.
 */
branch: string, 
/**
 * The folder of the repository that it was made of: its sessions are listed there.
 */
repository: string, 
/**
 * It is gone; what was said in it is kept.
 */
removed?: boolean, };

export type ProofPart = "matched" | "failed" | "missing" | "unproven" | "not_checked";

export type ProofReason = "missing_marker_doc" | "invalid_marker_kind" | "invalid_payload" | "path_mismatch" | "fingerprint_mismatch" | "probe_failed";

export type PullRequestParams = { 
/**
 * Its title; the forge's own program makes one of the commits if it is absent.
 */
title?: string, 
/**
 * What it says.
 */
body?: string, 
/**
 * The branch that it is for; the forge's default if it is absent.
 */
base?: string, };

export type PullRequestResponse = { 
/**
 * Whether the forge's program has made one.
 */
made: boolean, 
/**
 * Its address, or the forge's page on which one is made by hand.
 */
url?: string, 
/**
 * What the forge's program said.
 */
output: string, };

export type Question = { 
/**
 * Names it in the answer.
 */
questionId: QuestionId, 
/**
 * ISO 8601 UTC.
 */
askedAt: string, } & ({ "kind": "permission", 
/**
 * The tool by the agent's own name.
 */
toolName: string, 
/**
 * The arguments it would run with, unabridged: the page shows every one of them. A number that JavaScript
 * cannot hold is here as its digits.
 */
toolArguments: Record<string, unknown>, 
/**
 * Names of arguments that are the agent's own bookkeeping, as ids and times are: the page folds them.
 */
bookkeeping?: Array<string>, 
/**
 * The tool call that waits, where the agent tells.
 */
callId?: CallId, 
/**
 * The agent's own line on why it asks.
 */
description?: string, 
/**
 * What "always" may grant, the narrowest first; nothing else is ever granted.
 */
grants: Array<Grant>, 
/**
 * What the page shows beside the arguments, e.g. the diff of an edit.
 */
detail?: ToolDetail, } | { "kind": "choice", 
/**
 * Answered together.
 */
questions: Array<ChoiceQuestion>, });

export type QuestionId = string;

export type QueueParams = { "action": "edit", 
/**
 * The message to change.
 */
queuedId: QueuedId, 
/**
 * The new text.
 */
message: string, } | { "action": "remove", 
/**
 * The message to take out.
 */
queuedId: QueuedId, } | { "action": "send_now", 
/**
 * The message to deliver first.
 */
queuedId: QueuedId, } | { "action": "hold" } | { "action": "continue" };

export type QueueResponse = { 
/**
 * What still waits, in the order of delivery.
 */
messages: Array<QueuedMessage>, };

export type QueuedId = string;

export type QueuedMessage = { 
/**
 * Names it in changes of the queue.
 */
queuedId: QueuedId, 
/**
 * The id that its turn will have.
 */
turnId: TurnId, 
/**
 * The text as it stands now, edits included.
 */
message: string, 
/**
 * How many images go with it; the images themselves stay on the server.
 */
imageCount: number, 
/**
 * ISO 8601 UTC.
 */
queuedAt: string, };

export type RankingMode = "default" | "auto_changed_first";

export type ReindexReason = "legacy_unverified_fingerprint" | "fingerprint_mismatch" | "missing_fingerprint";

export type RemoveWorktreeResponse = { 
/**
 * Whether it was removed. If not, nothing has changed.
 */
removed: boolean, 
/**
 * Files that are not committed and that were not brought back.
 */
uncommitted: Array<string>, 
/**
 * Commits that no other branch has and that were not brought back.
 */
commits: Array<string>, 
/**
 * What its branch was; the branch is removed with it.
 */
commit: string, 
/**
 * The checkpoint of its files, if any of them would have been lost.
 */
undo?: string, };

export type RepairProof = { 
/**
 * The store has a generation of this root.
 */
collection: ProofPart, 
/**
 * The catalog has an entry that is searchable.
 */
snapshot: ProofPart, 
/**
 * The completion marker holds.
 */
marker: ProofPart, 
/**
 * It was made with this runtime's model and schema.
 */
fingerprint: ProofPart, 
/**
 * Every file of the folder is stored with exactly its chunks.
 */
payload: ProofPart, 
/**
 * Nothing else is stored.
 */
staleRemoteChunks: ProofPart, 
/**
 * The call graph is there.
 */
navigation: ProofPart, };

export type RepositoryStatus = { 
/**
 * The branch; absent while HEAD is detached.
 */
branch?: string, 
/**
 * The last commit; absent before the first.
 */
head?: string, 
/**
 * The branch of a remote that it follows.
 */
upstream?: string, 
/**
 * Commits that the remote's does not have.
 */
ahead: number, 
/**
 * Commits that only the remote's has.
 */
behind: number, 
/**
 * A merge, rebase or the like that is not finished, by its name.
 */
inProgress?: string, 
/**
 * The files that differ, by path.
 */
files: Array<StatusFile>, 
/**
 * The local branches, by name.
 */
branches: Array<string>, };

export type RestartParams = { 
/**
 * The server's id; all of them when absent.
 */
id?: string, };

export type RestoreParams = { 
/**
 * Its id, or the beginning of it; the `undo` of a restore takes that restore back.
 */
checkpoint: string, 
/**
 * These files and folders below the top of the working tree; all if there are none.
 */
paths: Array<string>, 
/**
 * Only say what would be done.
 */
dryRun: boolean, 
/**
 * Replace files too that somebody else changed since.
 */
force: boolean, };

export type Restored = { 
/**
 * What the tree is now.
 */
checkpoint: string, 
/**
 * What it was before; absent of a dry run.
 */
undo?: string, 
/**
 * Files that were written.
 */
written: Array<string>, 
/**
 * Files that were removed.
 */
removed: Array<string>, 
/**
 * Files that somebody else changed, or that something stands in the way of: they are as they were.
 */
conflicts: Array<string>, };

export type ResultMode = "grouped" | "raw";

export type ResultRole = "definition" | "caller" | "test" | "document";

export type Review = { 
/**
 * In the order in which they were begun.
 */
comments: Array<Comment>, 
/**
 * The files that were looked at, each with the id of the content that it had then.
 */
viewed: { [key in string]: string }, };

export type RevokeDevicesParams = { 
/**
 * The one to put out; without it all of them, and every link that was not used yet.
 */
deviceId?: string, };

export type RevokeDevicesResponse = { 
/**
 * How many were put out.
 */
revoked: number, };

export type RewindParams = { 
/**
 * The turn that is undone, with all after it.
 */
before: TurnId, 
/**
 * Make the files what they were.
 */
files: boolean, 
/**
 * Go on without what was said since, in a session of its own. The old one is archived: it is the way back.
 */
conversation: boolean, 
/**
 * Only say what would be done.
 */
dryRun: boolean, 
/**
 * Replace files too that somebody else changed since.
 */
force: boolean, };

export type RewindResponse = { 
/**
 * What happened to the files, if they were asked for.
 */
files?: Restored, 
/**
 * The session in which the conversation goes on, if that was asked for.
 */
session?: SessionId, 
/**
 * What the session's agent cannot do, in words.
 */
cannot?: string, };

export type RunState = "running" | "passed" | "failed" | "interrupted";

export type RuntimeOwner = { 
/**
 * Its process.
 */
pid: number, 
/**
 * ISO 8601 UTC.
 */
startedAt: string, 
/**
 * The version of its binary.
 */
version: string, 
/**
 * What it would index with.
 */
fingerprint: string, };

export type ScopesResponse = { 
/**
 * The turns that were recorded, the first one first.
 */
turns: Array<TurnId>, 
/**
 * Whether there is a repository, and so a last commit.
 */
repository: boolean, 
/**
 * The branch that is checked out.
 */
branch?: string, 
/**
 * The repository's own branches, by name.
 */
branches: Array<string>, 
/**
 * When a person last looked at what the session changed, in milliseconds since 1970.
 */
lookedAt?: number, };

export type SearchAsk = "find" | "edit" | "explain";

export type SearchChunk = { 
/**
 * Relative to the root.
 */
file: string, 
/**
 * Its lines.
 */
span: Span, 
/**
 * The language of the file.
 */
language: string, 
/**
 * Its text.
 */
content: string, 
/**
 * Only comparable within one answer.
 */
score: number, 
/**
 * When it was stored, ISO 8601 UTC.
 */
indexedAt?: string, 
/**
 * How long ago that was.
 */
stalenessBucket: StalenessBucket, 
/**
 * The symbol that it lies in, if it lies in one.
 */
symbolId?: string, 
/**
 * The symbol as the outline writes it.
 */
symbolLabel?: string, 
/**
 * How its score came about; only with `debug`.
 */
debug?: JsonValue, };

export type SearchCodebaseParams = { 
/**
 * An indexed folder, or a folder inside one (then only that folder is searched).
 */
path: string, 
/**
 * Words or identifiers; operators lang: path: -path: must: exclude: at the start.
 */
query: string, 
/**
 * What it is for.
 */
ask: SearchAsk, 
/**
 * Which kinds of files are searched.
 */
scope: SearchScope, 
/**
 * Groups or single chunks.
 */
resultMode: ResultMode, 
/**
 * What a group is.
 */
groupBy: GroupBy, 
/**
 * Whether files with uncommitted changes are preferred.
 */
rankingMode: RankingMode, 
/**
 * At most so many results (1..50).
 */
limit?: number, 
/**
 * Answer with one bundle of code of about so many tokens.
 */
budget?: number, 
/**
 * How much it says.
 */
detail: Detail, 
/**
 * Adds hints.debugSearch.
 */
debug: boolean, };

export type SearchCodebaseResponse = { 
/**
 * Whether the index could answer.
 */
status: IndexStatus, 
/**
 * Why not, when the status is not `ok`.
 */
reason?: NonOkReason, 
/**
 * As asked.
 */
path: string, 
/**
 * The root that answers or has to be repaired; absent when none encloses the path.
 */
codebasePath?: string, 
/**
 * As asked.
 */
query: string, 
/**
 * As asked, or the default.
 */
scope: SearchScope, 
/**
 * As asked, or the default.
 */
groupBy: GroupBy, 
/**
 * The most results that were wanted.
 */
limit: number, 
/**
 * As asked, or the default.
 */
resultMode: ResultMode, 
/**
 * What was done about changes since the last sync.
 */
freshnessDecision?: FreshnessDecision, 
/**
 * What the caller should know beside the answer.
 */
warnings?: Array<Warning>, 
/**
 * A sentence for people, when the status is not `ok`.
 */
message?: string, 
/**
 * What a caller can do next.
 */
hints?: Hints, 
/**
 * How far a running build is.
 */
indexing?: IndexingProgress, 
/**
 * What the index was made with, when that matters.
 */
compatibility?: Compatibility, 
/**
 * The best first.
 */
results: Array<SearchResult>, 
/**
 * The same as one bundle of code, when there is a budget for it.
 */
bundle?: Bundle, };

export type SearchConfidence = "high" | "medium" | "low";

export type SearchGroup = { 
/**
 * The symbol's id, or `grp_` and a hash of file and span.
 */
groupId: string, 
/**
 * Relative to the root.
 */
file: string, 
/**
 * The lines of the symbol, or from the first chunk to the last where there is none.
 */
span: Span, 
/**
 * The language of the file.
 */
language: string, 
/**
 * The symbol that it is, if it is one.
 */
symbolId: string | null, 
/**
 * The symbol as the outline writes it.
 */
symbolLabel: string | null, 
/**
 * With `ask: explain`, what it is to the thing.
 */
role?: ResultRole, 
/**
 * Only comparable within one answer.
 */
score: number, 
/**
 * When these lines were stored, ISO 8601 UTC.
 */
indexedAt: string | null, 
/**
 * How long ago that was.
 */
stalenessBucket: StalenessBucket, 
/**
 * How many chunks became this one result.
 */
collapsedChunkCount: number, 
/**
 * Whether its calls are known.
 */
callGraphHint: CallGraphHint, 
/**
 * Ready calls for a result whose calls are not known.
 */
navigationFallback?: NavigationFallback, 
/**
 * What was found of it, at most 4000 characters.
 */
preview: string, 
/**
 * The line that the preview begins with.
 */
previewLine: number, 
/**
 * How its score came about; only with `debug`.
 */
debug?: JsonValue, };

export type SearchResult = { "kind": "group" } & SearchGroup | { "kind": "chunk" } & SearchChunk;

export type SearchScope = "runtime" | "mixed" | "docs";

export type SendParams = { 
/**
 * What the user says; it may be blank only beside images.
 */
message: string, 
/**
 * Sent to the model with the message, in this order.
 */
images?: Array<ImageData>, };

export type SendResponse = { 
/**
 * The id that every output of this turn carries, also when the message waits in the queue first.
 */
turnId: TurnId, 
/**
 * True when another turn runs: the message is delivered after it.
 */
queued: boolean, };

export type ServerFrame = { "type": "session:upsert", 
/**
 * The session it belongs to.
 */
sessionId: SessionId, 
/**
 * The place in the session's sequence.
 */
seq: number, 
/**
 * The item's whole state so far.
 */
payload: Upsert, } | { "type": "session:turn", 
/**
 * The session it belongs to.
 */
sessionId: SessionId, 
/**
 * The place in the session's sequence.
 */
seq: number, 
/**
 * What happened to the turn.
 */
payload: TurnEvent, } | { "type": "session:history", 
/**
 * The session it belongs to.
 */
sessionId: SessionId, 
/**
 * The last place that is contained.
 */
seq: number, 
/**
 * The last upsert of each item, in the order the items appeared.
 */
entries: Array<Upsert>, 
/**
 * The turn events, in order.
 */
turns: Array<TurnEvent>, 
/**
 * Set when the conversation is longer than one frame: more can be had before this place.
 */
earlier?: number, 
/**
 * What the turns before that place used, if they used anything; `contextTokens` is not told.
 */
earlierUsage?: Usage, } | { "type": "session:state", 
/**
 * The session it belongs to.
 */
sessionId: SessionId, 
/**
 * What it is doing now.
 */
state: SessionState, 
/**
 * What the agent is doing or why it is dead, e.g. "API overloaded, retry 2 of 10 in 4 s".
 */
note?: string, } | { "type": "session:question", 
/**
 * The session that waits.
 */
sessionId: SessionId, 
/**
 * What is asked.
 */
question: Question, } | { "type": "session:question-closed", 
/**
 * The session that had asked.
 */
sessionId: SessionId, 
/**
 * The question that needs no answer any more.
 */
questionId: QuestionId, } | { "type": "session:queue", 
/**
 * The session it belongs to.
 */
sessionId: SessionId, 
/**
 * In the order of delivery.
 */
messages: Array<QueuedMessage>, 
/**
 * Why the messages wait for a person and not for a turn; loading the session delivers them.
 */
held?: string, } | { "type": "session:title", 
/**
 * The session it belongs to.
 */
sessionId: SessionId, 
/**
 * The title that lists show.
 */
title: string, } | { "type": "session:listed", 
/**
 * Its row.
 */
session: SessionSummary, } | { "type": "session:removed", 
/**
 * The session that is gone.
 */
sessionId: SessionId, } | { "type": "session:options", 
/**
 * The session it belongs to.
 */
sessionId: SessionId, 
/**
 * It replaces what the browser had.
 */
options: SessionOptions, } | { "type": "project:list", 
/**
 * By name, then by path.
 */
projects: Array<Project>, } | { "type": "agent:status", 
/**
 * The agent's config key.
 */
cliType: CliType, 
/**
 * Whether it can be used now.
 */
status: AgentStatus, } | { "type": "ack", 
/**
 * The command's own.
 */
requestId: string, 
/**
 * The body of the HTTP route's answer.
 */
result: unknown, } | { "type": "error", 
/**
 * The command's own; absent for a frame that could not be read.
 */
requestId?: string, 
/**
 * The code that the HTTP route would answer.
 */
code?: ErrorCode, 
/**
 * A sentence for people.
 */
message: string, };

export type ServerState = "active" | "starting" | "broken" | "disabled" | "unavailable" | "idle" | "untrusted";

export type ServerStatus = { 
/**
 * The server's id in the config.
 */
id: string, 
/**
 * Whether it runs, and if not, what kind of trouble it is.
 */
status: ServerState, 
/**
 * The language it knows, e.g. `typescript`.
 */
language: string, 
/**
 * Its process, when it runs.
 */
serverPid?: number, 
/**
 * The project root it serves, relative to the workspace (`.` is the workspace itself).
 */
root?: string, 
/**
 * Whether its last result can be relied on, when it runs.
 */
freshness?: Freshness, 
/**
 * What it is doing, or why it is not running.
 */
reason?: string, 
/**
 * The command that mends it: an installation, or the trust of the workspace.
 */
hint?: string, 
/**
 * The program that was chosen.
 */
path?: string, 
/**
 * Its sandbox, or why it has none although there would be one by default; absent when it has none.
 */
sandbox?: string, 
/**
 * Resident memory of the server and everything below it.
 */
rssBytes?: number, 
/**
 * How long it has been running.
 */
uptimeMs?: number, };

export type SessionId = string;

export type SessionListResponse = { 
/**
 * Newest activity first.
 */
sessions: Array<SessionSummary>, };

export type SessionOptions = { 
/**
 * The models that the agent offers, in its order.
 */
models: Array<NamedOption>, 
/**
 * The permission modes that the agent offers, in its order.
 */
modes: Array<NamedOption>, 
/**
 * Slash commands, without the slash.
 */
commands: Array<NamedOption>, 
/**
 * The id of the model in use, where the agent tells.
 */
model?: string, 
/**
 * The id of the mode in use, where the agent tells.
 */
mode?: string, };

export type SessionResponse = { 
/**
 * The CLI's own id, which resumes it in a terminal too.
 */
sessionId: SessionId, 
/**
 * The agent that runs it.
 */
cliType: CliType, };

export type SessionState = "open" | "loading" | "working" | "needs_you" | "dead";

export type SessionStatusResponse = { 
/**
 * The CLI's own id.
 */
sessionId: SessionId, 
/**
 * The agent that runs it.
 */
cliType: CliType, 
/**
 * Whether the agent's process runs; a session without one starts it with the next message.
 */
isAlive: boolean, 
/**
 * What it is doing now.
 */
state: SessionState, 
/**
 * The title that lists show.
 */
title: string, 
/**
 * The model in use, where the agent tells.
 */
model?: string, 
/**
 * The permission mode in use, where the agent tells.
 */
mode?: string, };

export type SessionSummary = { 
/**
 * The CLI's own id.
 */
sessionId: SessionId, 
/**
 * The agent that runs it.
 */
cliType: CliType, 
/**
 * The project whose folder it works in.
 */
projectId: ProjectId, 
/**
 * The beginning of the first message, until the user or the agent gives another.
 */
title: string, 
/**
 * What it is doing now.
 */
state: SessionState, 
/**
 * ISO 8601 UTC; the list is sorted by it, newest first.
 */
lastActivity: string, 
/**
 * True for a session that the user made outside Chartroom and has not opened here yet.
 */
discovered: boolean, 
/**
 * Put away by the user; lists show it only when asked.
 */
archived: boolean, };

export type SetModeParams = { 
/**
 * One of the ids in `SessionOptions::modes`.
 */
mode: string, };

export type SetModelParams = { 
/**
 * One of the ids in `SessionOptions::models`.
 */
model: string, };

export type SetTitleParams = { 
/**
 * 1 to 200 characters; white space is collapsed.
 */
title: string, };

export type Severity = "error" | "warning" | "info" | "hint";

export type SkipReason = "unknown_kind" | "binary" | "encoding" | "long_lines" | "too_large" | "generated" | "lockfile" | "secret";

export type SkippedCount = { 
/**
 * Why.
 */
reason: SkipReason, 
/**
 * How many.
 */
count: number, };

export type SkippedFile = { 
/**
 * Path below the root.
 */
path: string, 
/**
 * Why.
 */
reason: SkipReason, };

export type SkippedFiles = { 
/**
 * All of them.
 */
total: number, 
/**
 * By reason.
 */
reasons: Array<SkippedCount>, 
/**
 * By path, at most [`Self::LISTED`]; only where they were asked for.
 */
files?: Array<SkippedFile>, };

export type Span = { 
/**
 * The first line.
 */
startLine: number, 
/**
 * The last line.
 */
endLine: number, };

export type StaleLocal = { 
/**
 * Why the proof does not hold.
 */
completionProof: ProofReason, 
/**
 * The call that mends it.
 */
recommendedAction: ManageHint, };

export type StalenessBucket = "fresh" | "aging" | "stale" | "unknown";

export type StartTriesParams = { 
/**
 * What each of them is told.
 */
message: string, 
/**
 * Who tries, two to four; the same agent may try more than once.
 */
agents: Array<TryAgent>, 
/**
 * What the branches begin with; made of the message if it is absent. The first try's is this with `-1`.
 */
branch?: string, 
/**
 * The branch, tag or commit that they begin with; the last commit if none is named.
 */
from?: string, };

export type StatusFile = { 
/**
 * Below the top of the repository; bytes that are no text are replaced.
 */
path: string, 
/**
 * It, or a part of it, is staged.
 */
staged: boolean, 
/**
 * It, or a part of it, is not.
 */
unstaged: boolean, 
/**
 * The repository does not know it.
 */
untracked: boolean, 
/**
 * A merge has left it for the user to settle.
 */
conflicted: boolean, };

export type SwitchParams = { 
/**
 * The branch.
 */
branch: string, 
/**
 * Make it first.
 */
create: boolean, 
/**
 * What a new one begins with; the last commit if it is absent.
 */
from?: string, };

export type SymbolRef = { 
/**
 * Relative to the root.
 */
file: string, 
/**
 * As search and outline give it.
 */
symbolId: string, 
/**
 * The symbol as the outline writes it.
 */
symbolLabel?: string, 
/**
 * Where it is defined.
 */
span?: Span, };

export type SyncStats = { 
/**
 * New files.
 */
added: number, 
/**
 * Files that are gone or ignored now.
 */
removed: number, 
/**
 * Files with other content.
 */
modified: number, };

export type TeamOverlay = { 
/**
 * The name of the shared index.
 */
project: string, 
/**
 * The generation of it that this folder was compared with.
 */
generation: number, 
/**
 * When that one was completed, ISO 8601 UTC.
 */
completedAt: string, 
/**
 * Files that are new, other or gone in this folder.
 */
overlaidFiles: number, };

export type TeamServer = { 
/**
 * Where it is.
 */
address: string, 
/**
 * What it calls itself; absent when it does not answer.
 */
version?: string, 
/**
 * How long it took to answer, or not to.
 */
latencyMs: number, 
/**
 * Why it does not answer.
 */
trouble?: string, 
/**
 * The last trouble of this process with it.
 */
lastTrouble?: TeamTrouble, };

export type TeamServerResponse = { 
/**
 * Absent when indexes are kept on this machine alone.
 */
server?: TeamServer, };

export type TeamTrouble = { 
/**
 * In words.
 */
text: string, 
/**
 * When, ISO 8601 UTC.
 */
at: string, };

export type TerminalCommand = { "type": "read", 
/**
 * How many, in all.
 */
bytes: number, } | { "type": "resize", 
/**
 * Characters in a row.
 */
columns: number, 
/**
 * Rows.
 */
rows: number, };

export type TerminalFrame = { "type": "attached", 
/**
 * So many bytes come first that were printed before: a question in them has been answered.
 */
replayed: number, } | { "type": "skipped" } | { "type": "refused", 
/**
 * How many.
 */
bytes: number, } | { "type": "ended", 
/**
 * How, in words: `exited with status 0`.
 */
how: string, 
/**
 * Whether it ended by itself with status 0.
 */
success: boolean, };

export type TerminalInfo = { 
/**
 * Names it.
 */
terminalId: string, 
/**
 * The shell's name, e.g. `bash`.
 */
shell: string, 
/**
 * The folder it began in.
 */
folder: string, 
/**
 * How its shell ended, if it has.
 */
ended?: string, };

export type TerminalListResponse = { 
/**
 * Those of the folder, by id.
 */
terminals: Array<TerminalInfo>, };

export type TestTriesParams = { 
/**
 * The one that is tested; all of them if none is named.
 */
name?: string, };

export type ToldDiagnostics = { 
/**
 * What it read, word for word.
 */
text: string, 
/**
 * How many errors are in it.
 */
errors: number, 
/**
 * Warnings, infos and hints.
 */
warnings: number, 
/**
 * Those of which it was told only that they are there.
 */
leftOut?: number, 
/**
 * How many of them the change has brought, where the user wants that told.
 */
new?: number, };

export type ToolDetail = { 
/**
 * Which card the page draws; absent means `other`.
 */
kind?: ToolKind, 
/**
 * A short human line of the agent's own, e.g. the description of a shell command.
 */
title?: string, 
/**
 * The changes of an edit, file by file.
 */
diffs?: Array<FileDiff>, 
/**
 * The exit status of a shell command.
 */
exitCode?: number, 
/**
 * How long the tool ran, where the agent tells.
 */
durationMs?: number, 
/**
 * Set when the text was cut for the wire: its full length in bytes.
 */
truncatedFrom?: number, 
/**
 * What the agent was told about errors after this call.
 */
diagnostics?: ToldDiagnostics, 
/**
 * What the agent's sandbox leaves out of what this call failed with, a sentence for people.
 */
sandbox?: string, };

export type ToolHint = { 
/**
 * The tool's name.
 */
tool: string, 
/**
 * Its arguments, complete.
 */
args: JsonValue, };

export type ToolKind = "shell" | "edit" | "read" | "search" | "web" | "mcp" | "todo" | "subagent" | "other";

export type Tries = { 
/**
 * Names them.
 */
triesId: string, 
/**
 * The project of the repository that they are of.
 */
projectId: ProjectId, 
/**
 * What each was told.
 */
message: string, 
/**
 * ISO 8601 UTC.
 */
createdAt: string, 
/**
 * The branch of the repository's folder, onto which one is kept unless another is named; absent of a detached HEAD.
 */
onto?: string, 
/**
 * The command of the user's config that tests each; empty if there is none.
 */
test: Array<string>, 
/**
 * In the order in which they were asked for.
 */
tries: Array<Try>, 
/**
 * The name of the one that was kept.
 */
kept?: string, };

export type TriesListResponse = { 
/**
 * The newest first.
 */
tries: Array<Tries>, };

export type TrustParams = { 
/**
 * The canonical path that the person was shown.
 */
realPath: string, 
/**
 * False takes the trust back.
 */
trusted: boolean, };

export type Try = { 
/**
 * Its name, and its worktree's.
 */
name: string, 
/**
 * Its branch.
 */
branch: string, 
/**
 * Who tries.
 */
cliType: CliType, 
/**
 * Where it is.
 */
state: TryState, 
/**
 * Why it failed, in words.
 */
note?: string, 
/**
 * Its session, once it has begun.
 */
sessionId?: SessionId, 
/**
 * Its folder, once it is made.
 */
path?: string, 
/**
 * The set-up command.
 */
preparing?: CommandRun, 
/**
 * The test command, if it was run.
 */
test?: CommandRun, 
/**
 * What it has changed; absent as long as nothing is recorded.
 */
size?: DiffSize, 
/**
 * What it has cost, where the agent tells.
 */
costUsd?: number, 
/**
 * Tokens in and out, where the agent tells.
 */
tokens?: number, 
/**
 * How long its turns took that have ended.
 */
durationMs: number, 
/**
 * What its removal left: the commit of its branch and the checkpoint of its files.
 */
removed?: RemoveWorktreeResponse, };

export type TryAgent = { 
/**
 * The agent.
 */
cliType: CliType, 
/**
 * The agent's own name of a model; its default when absent.
 */
model?: string, 
/**
 * The agent's own id of a permission mode; its default when absent.
 */
mode?: string, };

export type TryState = "making" | "failed" | "open" | "working" | "needs_you" | "dead" | "removed";

export type TurnEvent = { "type": "turn_started", 
/**
 * The id that send answered with.
 */
turnId: TurnId, 
/**
 * The session that it runs in.
 */
sessionId: SessionId, 
/**
 * The model that answers.
 */
modelId: string, 
/**
 * The agent's config key.
 */
providerId: string, } | { "type": "turn_complete", 
/**
 * The turn that ended.
 */
turnId: TurnId, 
/**
 * The session that it ran in.
 */
sessionId: SessionId, 
/**
 * Whether the agent went through with it.
 */
status: TurnStatus, 
/**
 * What it used, where the agent tells.
 */
usage?: Usage, 
/**
 * From the message to the end.
 */
durationMs?: number, } | { "type": "turn_error", 
/**
 * The turn that failed.
 */
turnId: TurnId, 
/**
 * The session that it ran in.
 */
sessionId: SessionId, 
/**
 * The agent's code, or one of ours.
 */
errorCode: string, 
/**
 * A sentence for people.
 */
errorMessage: string, };

export type TurnId = string;

export type TurnOf = { 
/**
 * The session.
 */
session: string, 
/**
 * Its turn; all of them if it is absent.
 */
turn?: TurnId, };

export type TurnStatus = "completed" | "cancelled";

export type UndoListResponse = { 
/**
 * Each once: what is undone is no longer among them.
 */
acts: Array<UndoableAct>, };

export type UndoResponse = { 
/**
 * Whether it was undone. If not, nothing has changed.
 */
done: boolean, 
/**
 * What was undone.
 */
undone: UndoableAct, 
/**
 * Why not, in words.
 */
reason?: string, 
/**
 * What came of the files. Those that were changed since are `conflicts`, and as they were.
 */
files?: Restored, };

export type UndoableAct = { 
/**
 * Its id.
 */
act: string, 
/**
 * When, in milliseconds since 1970.
 */
at: number, 
/**
 * What was done, in words.
 */
what: string, 
/**
 * The session that went back to before a message.
 */
rewound?: string, 
/**
 * The session that was archived with it, and comes back.
 */
archived?: string, 
/**
 * The session that goes on instead of it.
 */
made?: string, };

export type Upsert = { 
/**
 * The turn that produced it.
 */
turnId: TurnId, 
/**
 * The session that it belongs to.
 */
sessionId: SessionId, 
/**
 * The item whose state this replaces.
 */
itemId: ItemId, 
/**
 * When the agent produced it, ISO 8601 UTC.
 */
sourceTimestamp: string, 
/**
 * When the processor emitted it, ISO 8601 UTC.
 */
emittedAt: string, 
/**
 * Where the item is in its life.
 */
status: UpsertStatus, 
/**
 * With `error`: the agent's code, or one of ours.
 */
errorCode?: string, 
/**
 * With `error`: a sentence for people.
 */
errorMessage?: string, 
/**
 * The call of the agent that this item belongs to, when a subagent made it.
 */
parentCallId?: CallId, } & ({ "type": "message", 
/**
 * The text so far.
 */
content: string, 
/**
 * Who said it.
 */
origin: Origin, 
/**
 * How many images came with a user's message.
 */
imageCount?: number, } | { "type": "thinking", 
/**
 * The text so far.
 */
content: string, 
/**
 * The agent's config key.
 */
providerId: string, } | { "type": "tool_call", 
/**
 * The tool by the agent's name for it.
 */
toolName: string, 
/**
 * Partial or empty at `create`; final at `complete`.
 */
toolArguments: Record<string, unknown>, 
/**
 * Joins the call with its result and with a question about it.
 */
callId: CallId, 
/**
 * The result as text, once there is one.
 */
toolOutput?: string, 
/**
 * Whether the tool says that it failed, once there is a result.
 */
toolOutputIsError?: boolean, 
/**
 * What the page draws beside the text.
 */
detail?: ToolDetail, });

export type UpsertStatus = "create" | "update" | "complete" | "error";

export type Usage = { 
/**
 * Tokens that the model read, without those from the cache.
 */
inputTokens: number, 
/**
 * Tokens that the model wrote.
 */
outputTokens: number, 
/**
 * Tokens read from the prompt cache.
 */
cacheReadInputTokens?: number, 
/**
 * Tokens written to the prompt cache.
 */
cacheCreationInputTokens?: number, 
/**
 * The agent's own figure, in US dollars.
 */
costUsd?: number, 
/**
 * Tokens in the context window after this turn, and the window's size, where the agent tells.
 */
contextTokens?: number, 
/**
 * The size of the context window in tokens.
 */
contextWindow?: number, };

export type ViewedParams = { 
/**
 * The file.
 */
path: string, 
/**
 * The id of its content; absent when it counts as not looked at.
 */
content?: string, };

export type Warning = { 
/**
 * `SEARCH_DIRTY_WORKTREE_NOT_SYNCED`, `REINDEX_PREFLIGHT_UNKNOWN`, ….
 */
code: string, 
/**
 * How much it matters.
 */
severity: WarningSeverity, 
/**
 * Whether the answer should not be relied on.
 */
blocksUse: boolean, 
/**
 * A sentence for people.
 */
message: string, 
/**
 * What to do about it.
 */
action?: string, };

export type WarningSeverity = "info" | "warning";

export type WholeFileResponse = { 
/**
 * Relative to the folder, with `/` between segments.
 */
path: string, 
/**
 * What it is.
 */
kind: FileKind, 
/**
 * How large it is.
 */
bytes: number, 
/**
 * Its text, if it is one; of a file over the limit the first lines.
 */
text?: string, 
/**
 * The text is only the beginning.
 */
cut?: boolean, };

export type Worktree = { 
/**
 * Its name, by which it is brought back and removed.
 */
name: string, 
/**
 * Its folder.
 */
path: string, 
/**
 * Its branch.
 */
branch: string, 
/**
 * The commit that it began with.
 */
base: string, 
/**
 * The folder of the repository that it was made of.
 */
repository: string, 
/**
 * The set-up command of the user's config, while it runs and after; absent if there is none.
 */
preparing?: CommandRun, };

export type WorktreeListResponse = { 
/**
 * By name.
 */
worktrees: Array<Worktree>, };
