import { isAbsolute } from "node:path";
import type { WallTime } from "../../core/base/clock.ts";
import { isCount, isJsonObject, parseJson } from "../../core/base/parse-json.ts";
import type { Env } from "../../core/config/files.ts";
import { getEnvVariableName, getSetting, SETTING_KEYS } from "../../core/config/settings.ts";
import type { LaunchedHooks } from "../../core/process/agent-socket/launched-call.ts";
import type { SpanSender } from "../../core/process/span-sender.ts";
import { RUN_ID, SESSION_ID } from "../../core/protocol/keys.ts";
import type {
  CallAttempts,
  PlannedRetry,
  ResumedAttempt,
  RunPorts,
  StartedAttempt,
} from "../../core/run/request.ts";
import type { Call, CommandIo } from "./command.ts";
import type { CommandConnection, FrontEndOptions } from "./connect.ts";

/** The variable with which a launcher passes the note of its call to the program that it becomes without an agent. */
export const CALL_VARIABLE = "SIGNALBOX_CALL";

/** The variable in which a launcher says why no agent serves its call. Unset where there is no agent. */
export const FALLBACK_VARIABLE = "SIGNALBOX_FALLBACK";

/** The variable with which a launcher orders the program that it starts for hooks to call them. */
export const HOOKS_VARIABLE = "SIGNALBOX_HOOKS";

/** What a launcher keeps about its call, so that another process can continue it. */
export interface CallNote {
  /** Id of the call. */
  id: string;
  /** Number of attempts made. */
  number: number;
  /** When the call began to wait, wall clock, ms since the epoch. */
  since: WallTime;
  /** The last attempt; undefined if none was made: the call waits for its jitter or for conditions on the host. */
  attempt: ResumedAttempt | undefined;
  /** The last retry that was planned for the attempt. */
  retry: PlannedRetry | undefined;
}

const NOTE_VERSION = 1;

/**
 * Renders a note. Later versions must be able to read it: they take over runs of this one.
 * @param attempt  the last one, if there is one
 */
export function renderCallNote(
  { id, last, since }: CallAttempts,
  attempt?: StartedAttempt,
  retry?: PlannedRetry,
): string {
  const fields = attempt && { ...attempt, session: attempt.session.toString(16) };
  return JSON.stringify({ v: NOTE_VERSION, id, number: last, since, ...fields, retry });
}

/** Parses a note. Returns undefined if the text is missing, or this version does not understand it. */
export function parseCallNote(text: string | undefined): CallNote | undefined {
  const value = text === undefined || text === "" ? undefined : parseJson(text);
  if (!isJsonObject(value)) return undefined;
  const { v, id, number, enqueuedAt, since = enqueuedAt } = value; // earlier versions wrote no `since`
  const attempt = parseAttempt(value);
  const isValid = v === NOTE_VERSION && isMatching(id, RUN_ID) && Number.isFinite(since) && isCount(number);
  if (!isValid || (number !== 0) !== (attempt !== undefined)) return undefined;
  return { id, number, since, attempt, retry: parseRetry(value.retry) } as CallNote;
}

function parseRetry(value: unknown): PlannedRetry | undefined {
  if (!isJsonObject(value)) return undefined;
  const { start, at, code } = value;
  const isValid = isCount(start) && Number.isFinite(at) && isCount(code);
  return isValid ? ({ start, at, code } as PlannedRetry) : undefined;
}

function parseAttempt({
  run,
  session,
  ttl,
  enqueuedAt,
}: Readonly<Record<string, unknown>>): ResumedAttempt | undefined {
  const isValid =
    isMatching(run, RUN_ID) &&
    isMatching(session, SESSION_ID) &&
    isCount(ttl) &&
    ttl !== 0 &&
    Number.isFinite(enqueuedAt);
  return isValid ? ({ run, session: BigInt(`0x${session}`), ttl, enqueuedAt } as ResumedAttempt) : undefined;
}

const isMatching = (value: unknown, form: RegExp): boolean => typeof value === "string" && form.test(value);

/** Flags of `run` with which no agent serves it, and why. */
const UNSERVED_FLAGS = {
  capture: "the agent does not keep output",
  foreground: "its guardians are not in the session of the terminal",
} as const;
type UnservedFlag = keyof typeof UNSERVED_FLAGS;

/** The flags of a served command that decide whether and how an agent serves it. */
export interface LaunchedFlags extends Readonly<Partial<Record<UnservedFlag, unknown>>> {
  readonly "quiet-success"?: true;
  readonly jitter?: unknown;
  readonly lease?: unknown;
  readonly wait?: unknown;
}

/** Finds a flag with which no agent serves a run. */
export function findUnservedFlag(flags: LaunchedFlags): { flag: UnservedFlag; why: string } | undefined {
  const flag = (Object.keys(UNSERVED_FLAGS) as UnservedFlag[]).find((name) => flags[name] !== undefined);
  return flag && { flag, why: UNSERVED_FLAGS[flag] };
}

/** What an agent supplies to a run that a launcher has started. */
export interface LaunchedRun {
  /** The launcher, as it is shown to others. */
  readonly identity: { pid: number; user: string };
  /** Sends the spans of runs; undefined if the agent sends none. */
  readonly spans: SpanSender | undefined;
  /** Replaces `openConnection`. The store is that of the agent. @throws if the agent cannot serve this call */
  openConnection(call: Call<LaunchedFlags>, options: FrontEndOptions): Promise<CommandConnection>;
  /** The ports that differ from those of a run in a process of its own. */
  createPorts(): Pick<
    RunPorts,
    | "commands"
    | "sessions"
    | "successors"
    | "attempts"
    | "resumed"
    | "isStarted"
    | "plannedRetry"
    | "onRetry"
    | "onWait"
    | "describeHost"
    | "archivePastRun"
  >;
  /** Lets the launcher call hooks. */
  setHooks(hooks: LaunchedHooks): void;
  /** Called for each attempt before it claims anything. */
  onAttempt(attempt: StartedAttempt): Promise<void>;
}

/** The input and output of a run that an agent serves. */
export interface LaunchedIo extends CommandIo {
  launched: LaunchedRun;
}

/** Returns what an agent supplies; undefined for a run in a process of its own. */
export function findLaunchedRun(io: CommandIo | LaunchedIo): LaunchedRun | undefined {
  return "launched" in io ? io.launched : undefined;
}

/**
 * Finds a path in a call that an agent cannot use in the name of the caller: one relative to the caller's
 * directory, or any path of another user, whose files the agent must neither read nor write.
 */
export function findForeignPath(call: Call<object>, env: Env, isOwnUser: boolean): string | undefined {
  for (const key of ["config", ...SETTING_KEYS] as const) {
    const setting = key === "config" ? undefined : getSetting(key);
    if ((setting !== undefined && !setting.kind.isPath) || key === "agentSocket") continue;
    const variable = key === "config" ? "SIGNALBOX_CONFIG" : getEnvVariableName(key);
    for (const path of [call.settings[key], env[variable], setting?.etcdctl && env[setting.etcdctl]]) {
      if (typeof path !== "string" || path === "") continue;
      if (!isOwnUser || !isAbsolute(path)) return path;
    }
  }
  return undefined;
}
