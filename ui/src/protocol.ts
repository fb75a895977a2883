// Generated from crates/protocol by `cargo xtask types`. Do not edit.

export type ActiveMutation = { action: string, generation: number, pid: number, acquiredAt: string, operationId: string, };

export type AddProjectParams = { path: string, };

export type Agent = { cliType: CliType, name: string, status: AgentStatus, 
/**
 * The binary that would be started.
 */
path?: string, 
/**
 * The command that installs it.
 */
install: string, };

export type AgentListResponse = { agents: Array<Agent>, };

export type AgentStatus = "found" | "missing";

export type AnswerParams = { questionId: QuestionId, decision: Decision, 
/**
 * With `deny`: what the agent should do instead.
 */
message?: string, 
/**
 * For a choice: question text to chosen label (several joined by ", ").
 */
answers?: { [key in string]: string }, };

export type ArchiveParams = { archived: boolean, };

export type CallGraphHint = { supported: boolean, symbolRef?: SymbolRef, reason?: CallGraphUnsupported, };

export type CallGraphUnsupported = "missing_symbol" | "unsupported_language";

export type CallId = string;

export type CheckOutcome = { id: string, root: string, } & ({ "outcome": "answered", freshness: Freshness, } | { "outcome": "absent", status: ServerState, reason?: string, hint?: string, });

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
 * By server id, then root.
 */
servers: Array<CheckOutcome>, epoch: number, };

export type ChoiceOption = { label: string, description: string, };

export type ChoiceQuestion = { question: string, header: string, multiSelect: boolean, options: Array<ChoiceOption>, };

export type CliType = string;

export type ClientFrame = { requestId?: string, } & ({ "type": "subscribe", sessionId: SessionId, 
/**
 * The last seq this browser has; the server sends what is missing.
 */
afterSeq?: number, } | { "type": "unsubscribe", sessionId: SessionId, } | { "type": "load", sessionId: SessionId, } | { "type": "send", sessionId: SessionId, params: SendParams, } | { "type": "cancel", sessionId: SessionId, } | { "type": "kill", sessionId: SessionId, } | { "type": "answer", sessionId: SessionId, params: AnswerParams, } | { "type": "queue", sessionId: SessionId, change: QueueParams, } | { "type": "model", sessionId: SessionId, params: SetModelParams, } | { "type": "mode", sessionId: SessionId, params: SetModeParams, });

export type Code = number | string;

export type CodebaseBucket = "ready" | "indexing" | "requires_reindex" | "failed";

export type Compatibility = { 
/**
 * `provider/model/dimension/store/schema`.
 */
runtimeFingerprint: string, indexedFingerprint?: string, fingerprintSource?: FingerprintSource, reindexReason?: ReindexReason, statusAtCheck: string, };

export type Confidence = "high" | "low";

export type ContextCategory = { 
/**
 * The agent's own word, e.g. "System prompt" or "Messages".
 */
name: string, tokens: number, };

export type ContextResponse = { "status": "known", context: ContextUse, } | { "status": "not_told" } | { "status": "not_running" };

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

export type CreateSessionParams = { cliType: CliType, projectDir: string, model?: string, mode?: string, providerOptions?: Record<string, unknown>, };

export type DebugIndexing = { 
/**
 * `marker_doc`.
 */
completionProof: string, };

export type DebugProofCheck = { ok: boolean, reason: ProofReason, detail?: string, };

export type Decision = "allow" | "allow_always" | "deny";

export type Diagnostic = { 
/**
 * Relative to the workspace root, with `/` between segments.
 */
file: string, line: number, character: number, severity: Severity, message: string, code?: Code, source?: string, };

export type DiffHunk = { oldStart: number, newStart: number, lines: Array<DiffLine>, };

export type DiffLine = { kind: DiffLineKind, 
/**
 * The line in runs; `changed` runs are the intra-line marks.
 */
spans: Array<DiffSpan>, };

export type DiffLineKind = "context" | "added" | "removed";

export type DiffSpan = { text: string, changed?: boolean, };

export type DoneResponse = Record<symbol, never>;

export type ErrorBody = { code: ErrorCode, 
/**
 * What is wrong, where, and what to do about it.
 */
message: string, };

export type ErrorCode = "UNSUPPORTED_CLI_TYPE" | "SESSION_NOT_FOUND" | "PROCESS_CRASH" | "PROTOCOL_ERROR" | "INVALID_STREAM_EVENT" | "INTERRUPT_FAILED" | "SESSION_CREATE_FAILED" | "RESPONSE_ERROR" | "PROJECT_ID_REQUIRED" | "INVALID_PATH" | "DUPLICATE_PROJECT" | "NOT_FOUND" | "WORKSPACE_UNTRUSTED" | "QUESTION_NOT_FOUND" | "QUEUED_MESSAGE_NOT_FOUND" | "AGENT_NOT_INSTALLED" | "MESSAGE_TOO_LARGE" | "INVALID_REQUEST" | "UNAUTHORIZED" | "FORBIDDEN_ORIGIN" | "FORBIDDEN_HOST" | "UNSUPPORTED_MEDIA_TYPE" | "PAYLOAD_TOO_LARGE" | "METHOD_NOT_ALLOWED" | "INTERNAL";

export type ErrorResponse = { error: ErrorBody, };

export type FileDiagnostics = { file: string, diagnostics: Array<Diagnostic>, 
/**
 * Why the file was not checked: outside the workspace, missing, binary, no server for it.
 */
refused?: string, };

export type FileDiff = { path: string, added: number, removed: number, hunks: Array<DiffHunk>, 
/**
 * True when hunks were left out because the change is larger than a person would read.
 */
truncated?: boolean, };

export type FileListResponse = { files: Array<string>, truncated: boolean, };

export type FingerprintSource = "verified" | "assumed_v2";

export type Freshness = "current" | "loading" | "timed-out";

export type FreshnessDecision = { mode: FreshnessMode, checkedAt?: string, thresholdMs?: number, lastSyncAt?: string, ageMs?: number, stats?: SyncStats, ignoreRulesVersion?: number, deletedFiles?: number, newlyIgnoredFiles?: number, addedFiles?: number, durationMs?: number, errorMessage?: string, fallbackSyncExecuted?: boolean, fallbackStats?: SyncStats, };

export type FreshnessMode = "synced" | "skipped_recent" | "coalesced" | "skipped_indexing" | "skipped_requires_reindex" | "skipped_missing_path" | "reconciled_ignore_change" | "ignore_reload_failed" | "sync_failed";

export type GroupBy = "symbol" | "file";

export type HealthResponse = { status: string, version: string, uptimeMs: number, };

export type Hints = { 
/**
 * 1, in search answers.
 */
version?: number, create?: ManageHint, reindex?: ManageHint, status?: ManageHint, sync?: ManageHint, clear?: ManageHint, overrideReindex?: ManageHint, staleLocal?: StaleLocal, debugProofCheck?: DebugProofCheck, debugIndexing?: DebugIndexing, indexing?: IndexingProgress, retryAfterMs?: number, activeMutation?: ActiveMutation, runtimeOwners?: Array<RuntimeOwner>, noiseMitigation?: NoiseMitigation, debugSearch?: JsonValue, supportedExtensions?: Array<string>, supportedLanguages?: Array<string>, nextSteps?: Array<ToolHint>, };

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
progressPct: number, lastUpdated: string, phase: string | null, filesDone?: number, filesTotal?: number, chunks?: number, chunksPerSecond?: number, };

export type ItemId = string;

export type JsonValue = number | string | boolean | Array<JsonValue> | { [key in string]: JsonValue } | null;

export type ListCodebasesResponse = { 
/**
 * By bucket, then by path.
 */
codebases: Array<ListedCodebase>, total: number, 
/**
 * The catalog was damaged and set aside, say.
 */
notices?: Array<string>, };

export type ListedCodebase = { 
/**
 * The canonical root.
 */
path: string, bucket: CodebaseBucket, 
/**
 * Why it is in this bucket, for `requires_reindex` and `failed`.
 */
reason?: string, progressPct?: number, 
/**
 * The folder is not there now (an unmounted disk, say); the entry is kept.
 */
missing?: boolean, indexedFiles?: number, totalChunks?: number, lastUpdated?: string, };

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
tool: string, args: ManageHintArgs, };

export type ManageHintArgs = { action: ManageAction, path: string, force?: boolean, allowUnnecessaryReindex?: boolean, };

export type ManageIndexParams = { 
/**
 * create, reindex, sync, status, clear or repair.
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
version: number, action: ManageAction, path: string, status: IndexStatus, reason?: ManageReason, message: string, humanText: string, warnings?: Array<Warning>, hints?: Hints, preflight?: Preflight, repairProof?: RepairProof, compatibility?: Compatibility, freshnessDecision?: FreshnessDecision, operation?: Operation, };

export type ManageReason = "indexing" | "not_indexed" | "requires_reindex" | "unnecessary_reindex_ignore_only" | "preflight_unknown" | "mutation_in_progress" | "runtime_owner_conflict" | "needs_create";

export type NamedOption = { id: string, name: string, description: string, };

export type NavigationContext = { codebaseRoot: string, relativeFile: string, absolutePath: string, };

export type NavigationFallback = { message: string, context: NavigationContext, readSpan: ToolHint, fileOutlineWindow?: ToolHint, };

export type NoiseMitigation = { 
/**
 * `top_results_noise_dominant`.
 */
reason: string, topK: number, ratios: NoiseRatios, recommendedScope: SearchScope, suggestedIgnorePatterns: Array<string>, debounceMs: number, nextStep: string, };

export type NoiseRatios = { tests: number, fixtures: number, docs: number, generated: number, runtime: number, };

export type NonOkReason = "indexing" | "requires_reindex" | "not_indexed" | "missing_symbol" | "unsupported_language" | "missing_sidecar";

export type Operation = { 
/**
 * `run_<uuid>`.
 */
operationId: string, action: ManageAction, root: string, generation: number, acceptedAt: string, phase: OperationPhase, transitionAt: string, fingerprint: string, 
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

export type Preflight = { outcome: PreflightOutcome, confidence: Confidence, probeFailed: boolean, };

export type PreflightOutcome = "reindex_required" | "probe_failed" | "reindex_unnecessary_ignore_only" | "unknown";

export type Project = { projectId: ProjectId, 
/**
 * The canonical path.
 */
path: string, name: string, trusted: boolean, 
/**
 * The folder is gone (an unmounted disk, say); the project is kept.
 */
missing?: boolean, };

export type ProjectId = string;

export type ProjectListResponse = { projects: Array<Project>, };

export type ProofPart = "matched" | "failed" | "missing" | "unproven" | "not_checked";

export type ProofReason = "missing_marker_doc" | "invalid_marker_kind" | "invalid_payload" | "path_mismatch" | "fingerprint_mismatch" | "probe_failed";

export type Question = { questionId: QuestionId, askedAt: string, } & ({ "kind": "permission", toolName: string, toolArguments: Record<string, unknown>, callId?: CallId, description?: string, 
/**
 * Whether "always" can be offered.
 */
canAllowAlways: boolean, detail?: ToolDetail, } | { "kind": "choice", questions: Array<ChoiceQuestion>, });

export type QuestionId = string;

export type QueueParams = { "action": "edit", queuedId: QueuedId, message: string, } | { "action": "remove", queuedId: QueuedId, } | { "action": "send_now", queuedId: QueuedId, };

export type QueueResponse = { messages: Array<QueuedMessage>, };

export type QueuedId = string;

export type QueuedMessage = { queuedId: QueuedId, turnId: TurnId, message: string, imageCount: number, queuedAt: string, };

export type RankingMode = "default" | "auto_changed_first";

export type ReindexReason = "legacy_unverified_fingerprint" | "fingerprint_mismatch" | "missing_fingerprint";

export type RepairProof = { collection: ProofPart, snapshot: ProofPart, marker: ProofPart, fingerprint: ProofPart, payload: ProofPart, staleRemoteChunks: ProofPart, navigation: ProofPart, };

export type RestartParams = { id?: string, };

export type ResultMode = "grouped" | "raw";

export type RuntimeOwner = { pid: number, startedAt: string, version: string, fingerprint: string, };

export type SearchChunk = { 
/**
 * Relative to the root.
 */
file: string, span: Span, language: string, content: string, score: number, indexedAt?: string, stalenessBucket: StalenessBucket, symbolId?: string, symbolLabel?: string, debug?: JsonValue, };

export type SearchCodebaseParams = { 
/**
 * An indexed folder, or a folder inside one (then only that folder is searched).
 */
path: string, 
/**
 * Words or identifiers; operators lang: path: -path: must: exclude: at the start.
 */
query: string, scope: SearchScope, resultMode: ResultMode, groupBy: GroupBy, rankingMode: RankingMode, 
/**
 * At most so many results (1..50).
 */
limit?: number, 
/**
 * Adds hints.debugSearch.
 */
debug: boolean, };

export type SearchCodebaseResponse = { status: IndexStatus, reason?: NonOkReason, 
/**
 * As asked.
 */
path: string, 
/**
 * The root that answers or has to be repaired; absent when none encloses the path.
 */
codebasePath?: string, query: string, scope: SearchScope, groupBy: GroupBy, limit: number, resultMode: ResultMode, freshnessDecision?: FreshnessDecision, warnings?: Array<Warning>, message?: string, hints?: Hints, indexing?: IndexingProgress, compatibility?: Compatibility, results: Array<SearchResult>, };

export type SearchGroup = { 
/**
 * The symbol's id, or `grp_` and a hash of file and span.
 */
groupId: string, 
/**
 * Relative to the root.
 */
file: string, span: Span, language: string, symbolId: string | null, symbolLabel: string | null, score: number, indexedAt: string | null, stalenessBucket: StalenessBucket, collapsedChunkCount: number, callGraphHint: CallGraphHint, navigationFallback?: NavigationFallback, 
/**
 * At most 4000 characters.
 */
preview: string, debug?: JsonValue, };

export type SearchResult = { "kind": "group" } & SearchGroup | { "kind": "chunk" } & SearchChunk;

export type SearchScope = "runtime" | "mixed" | "docs";

export type SendParams = { message: string, images?: Array<ImageData>, };

export type SendResponse = { 
/**
 * The id that every output of this turn carries, also when the message waits in the queue first.
 */
turnId: TurnId, queued: boolean, };

export type ServerFrame = { "type": "session:upsert", sessionId: SessionId, seq: number, payload: Upsert, } | { "type": "session:turn", sessionId: SessionId, seq: number, payload: TurnEvent, } | { "type": "session:history", sessionId: SessionId, seq: number, 
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
earlierUsage?: Usage, } | { "type": "session:state", sessionId: SessionId, state: SessionState, 
/**
 * What the agent is doing or why it is dead, e.g. "API overloaded, retry 2 of 10 in 4 s".
 */
note?: string, } | { "type": "session:question", sessionId: SessionId, question: Question, } | { "type": "session:question-closed", sessionId: SessionId, questionId: QuestionId, } | { "type": "session:queue", sessionId: SessionId, messages: Array<QueuedMessage>, } | { "type": "session:title", sessionId: SessionId, title: string, } | { "type": "session:listed", session: SessionSummary, } | { "type": "session:options", sessionId: SessionId, options: SessionOptions, } | { "type": "project:list", projects: Array<Project>, } | { "type": "agent:status", cliType: CliType, status: AgentStatus, } | { "type": "ack", requestId: string, result: unknown, } | { "type": "error", requestId?: string, 
/**
 * The code that the HTTP route would answer.
 */
code?: ErrorCode, message: string, };

export type ServerState = "active" | "starting" | "broken" | "disabled" | "unavailable" | "untrusted";

export type ServerStatus = { id: string, status: ServerState, language: string, serverPid?: number, 
/**
 * The project root it serves, relative to the workspace (`.` is the workspace itself).
 */
root?: string, freshness?: Freshness, 
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
 * Resident memory of the server and everything below it.
 */
rssBytes?: number, uptimeMs?: number, };

export type SessionId = string;

export type SessionListResponse = { sessions: Array<SessionSummary>, };

export type SessionOptions = { models: Array<NamedOption>, modes: Array<NamedOption>, commands: Array<NamedOption>, model?: string, mode?: string, };

export type SessionResponse = { sessionId: SessionId, cliType: CliType, };

export type SessionState = "open" | "loading" | "working" | "needs_you" | "dead";

export type SessionStatusResponse = { sessionId: SessionId, cliType: CliType, isAlive: boolean, state: SessionState, title: string, model?: string, mode?: string, };

export type SessionSummary = { sessionId: SessionId, cliType: CliType, projectId: ProjectId, title: string, state: SessionState, 
/**
 * ISO 8601 UTC; the list is sorted by it, newest first.
 */
lastActivity: string, 
/**
 * True for a session that the user made outside Chartroom and has not opened here yet.
 */
discovered: boolean, archived: boolean, };

export type SetModeParams = { mode: string, };

export type SetModelParams = { model: string, };

export type SetTitleParams = { title: string, };

export type Severity = "error" | "warning" | "info" | "hint";

export type Span = { startLine: number, endLine: number, };

export type StaleLocal = { completionProof: ProofReason, recommendedAction: ManageHint, };

export type StalenessBucket = "fresh" | "aging" | "stale" | "unknown";

export type SymbolRef = { 
/**
 * Relative to the root.
 */
file: string, symbolId: string, symbolLabel?: string, span?: Span, };

export type SyncStats = { added: number, removed: number, modified: number, };

export type ToolDetail = { 
/**
 * Which card the page draws; absent means `other`.
 */
kind?: ToolKind, 
/**
 * A short human line of the agent's own, e.g. the description of a shell command.
 */
title?: string, diffs?: Array<FileDiff>, exitCode?: number, durationMs?: number, 
/**
 * Set when the text was cut for the wire: its full length in bytes.
 */
truncatedFrom?: number, };

export type ToolHint = { tool: string, args: JsonValue, };

export type ToolKind = "shell" | "edit" | "read" | "search" | "web" | "mcp" | "todo" | "subagent" | "other";

export type TrustParams = { realPath: string, trusted: boolean, };

export type TurnEvent = { "type": "turn_started", turnId: TurnId, sessionId: SessionId, modelId: string, providerId: string, } | { "type": "turn_complete", turnId: TurnId, sessionId: SessionId, status: TurnStatus, usage?: Usage, durationMs?: number, } | { "type": "turn_error", turnId: TurnId, sessionId: SessionId, errorCode: string, errorMessage: string, };

export type TurnId = string;

export type TurnStatus = "completed" | "cancelled";

export type Upsert = { turnId: TurnId, sessionId: SessionId, itemId: ItemId, 
/**
 * When the agent produced it, ISO 8601 UTC.
 */
sourceTimestamp: string, 
/**
 * When the processor emitted it, ISO 8601 UTC.
 */
emittedAt: string, status: UpsertStatus, errorCode?: string, errorMessage?: string, 
/**
 * The call of the agent that this item belongs to, when a subagent made it.
 */
parentCallId?: CallId, } & ({ "type": "message", content: string, origin: Origin, 
/**
 * How many images came with a user's message.
 */
imageCount?: number, } | { "type": "thinking", content: string, providerId: string, } | { "type": "tool_call", toolName: string, 
/**
 * Partial or empty at `create`; final at `complete`.
 */
toolArguments: Record<string, unknown>, callId: CallId, toolOutput?: string, toolOutputIsError?: boolean, detail?: ToolDetail, });

export type UpsertStatus = "create" | "update" | "complete" | "error";

export type Usage = { inputTokens: number, outputTokens: number, cacheReadInputTokens?: number, cacheCreationInputTokens?: number, costUsd?: number, 
/**
 * Tokens in the context window after this turn, and the window's size, where the agent tells.
 */
contextTokens?: number, contextWindow?: number, };

export type Warning = { 
/**
 * `SEARCH_DIRTY_WORKTREE_NOT_SYNCED`, `REINDEX_PREFLIGHT_UNKNOWN`, ….
 */
code: string, severity: WarningSeverity, 
/**
 * Whether the answer should not be relied on.
 */
blocksUse: boolean, message: string, action?: string, };

export type WarningSeverity = "info" | "warning";
