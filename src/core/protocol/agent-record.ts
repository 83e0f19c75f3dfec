import type { WallTime } from "../base/clock.ts";
import { isCount, parseObject } from "../base/parse-json.ts";

/** The agent that owns a session which many runs share: the value of `hosts/HOST/sessions/ID`. */
export interface AgentSessionRecord {
  /** Id of the agent. Each start of an agent has its own. */
  agent: string;
  pid: number;
  version: string;
}

/** The statistics of an agent since its start: the value of `hosts/HOST/agents/AGENT`. */
export interface AgentReport {
  /** The user that the agent runs as. */
  user: string;
  /** Start of the agent, wall clock, ms since the epoch. */
  since: WallTime;
  /** Number of calls that it has served to their end. */
  served: number;
  /** Number of calls that it has declined, by reason. Their launchers then ran them without an agent. */
  declined: Readonly<Record<string, number>>;
}

/** Maximum number of reasons that are read. Any user who may write `hosts/` could write more. */
const MOST_REASONS = 20;
const REASON = /^[a-z][a-z-]{0,31}$/;

/** Returns the value to store in etcd, for `parseAgentSession`. */
export function formatAgentSession(record: AgentSessionRecord): string {
  return JSON.stringify({ v: 1, ...record });
}

/** @returns undefined if the text is not the record of an agent */
export function parseAgentSession(text: string): AgentSessionRecord | undefined {
  const { agent, pid, version } = parseObject(text);
  if (!isText(agent) || !isCount(pid) || !isText(version)) return undefined;
  return { agent, pid, version };
}

/** Returns the value to store in etcd, for `parseAgentReport`. The same report has the same text. */
export function formatAgentReport({ declined, ...rest }: AgentReport): string {
  const sorted = Object.entries(declined).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify({ v: 1, ...rest, declined: Object.fromEntries(sorted) });
}

/** @returns undefined if the text is not the report of an agent */
export function parseAgentReport(text: string): AgentReport | undefined {
  const { user, since, served, declined } = parseObject(text);
  if (!isText(user) || !isCount(since) || !isCount(served)) return undefined;
  const reasons = Object.entries(Object(declined)).filter(
    (entry): entry is [string, number] => REASON.test(entry[0]) && isCount(entry[1]),
  );
  return { user, since, served, declined: Object.fromEntries(reasons.slice(0, MOST_REASONS)) };
}

const isText = (value: unknown): value is string => typeof value === "string" && value.length <= 1024;
