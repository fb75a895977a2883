// Generated from crates/protocol by `cargo xtask types`. Do not edit.

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

export type CreateSessionParams = { cliType: CliType, projectDir: string, model?: string, mode?: string, providerOptions?: Record<string, unknown>, };

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

export type Freshness = "current" | "loading" | "timed-out";

export type HealthResponse = { status: string, version: string, uptimeMs: number, };

export type ImageData = { 
/**
 * `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
 */
mediaType: string, 
/**
 * Base64, without a data: prefix.
 */
data: string, };

export type ItemId = string;

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

export type NamedOption = { id: string, name: string, description: string, };

export type Origin = "user" | "agent" | "system";

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

export type RestartParams = { id?: string, };

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
earlier?: number, } | { "type": "session:state", sessionId: SessionId, state: SessionState, 
/**
 * What the agent is doing or why it is dead, e.g. "API overloaded, retry 2 of 10 in 4 s".
 */
note?: string, } | { "type": "session:question", sessionId: SessionId, question: Question, } | { "type": "session:question-closed", sessionId: SessionId, questionId: QuestionId, } | { "type": "session:queue", sessionId: SessionId, messages: Array<QueuedMessage>, } | { "type": "session:title", sessionId: SessionId, title: string, } | { "type": "session:options", sessionId: SessionId, options: SessionOptions, } | { "type": "project:list", projects: Array<Project>, } | { "type": "agent:status", cliType: CliType, status: AgentStatus, } | { "type": "ack", requestId: string, result: unknown, } | { "type": "error", requestId?: string, 
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
