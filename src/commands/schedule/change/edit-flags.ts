import { formatDuration } from "../../../base/duration.ts";
import { quoteShellWord } from "../../../base/shell.ts";
import type { Definition } from "../../../schedule/definition.ts";
import type { Hook } from "../../../schedule/definition-values.ts";

const DURATIONS = ["delay", "jitter", "deadline", "timeout", "backoff"] as const;
const TEXTS = ["type", "on", "catchup", "overlap", "group", "note"] as const;

/** Converts a definition to the flags of `schedule edit`, without cron text and time zone. */
export function toEditFlags(definition: Definition): Record<string, string | readonly string[]> {
  const {
    priority,
    removeAfter,
    data,
    command,
    env,
    end,
    after,
    tags,
    leases,
    retries,
    keep,
    keepFor,
    hooks = {},
  } = definition;
  const flags: Record<string, string | readonly string[] | undefined> = {
    ...Object.fromEntries(TEXTS.map((name) => [name, definition[name]])),
    ...Object.fromEntries(DURATIONS.map((name) => [name, formatOptionalDuration(definition[name])])),
    data: data === undefined ? undefined : JSON.stringify(data),
    command: command && formatLine(command),
    env: env && Object.entries(env).map(([name, value]) => `${name}=${value}`),
    end: end === undefined ? undefined : new Date(end).toISOString(),
    after: after?.join(","),
    priority: priority === undefined ? undefined : String(priority),
    "remove-after": removeAfter,
    except: definition.except?.join(","),
    only: definition.only?.join(","),
    "if-excluded": definition.ifExcluded,
    tag: tags,
    lease: leases,
    retries: retries === undefined ? undefined : String(retries),
    keep: keep === undefined ? undefined : String(keep),
    "keep-for": formatOptionalDuration(keepFor),
    ...Object.fromEntries(
      Object.entries(hooks).map(([name, hook]) => [`hook-${name}`, hook && formatHook(hook)]),
    ),
  };
  const there = Object.entries(flags).filter(
    (flag): flag is [string, string | string[]] => flag[1] !== undefined,
  );
  return Object.fromEntries(there);
}

function formatOptionalDuration(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : formatDuration(ms);
}

function formatLine(words: readonly string[]): string {
  return words.map(quoteShellWord).join(" ");
}

function formatHook(hook: Hook): string {
  return typeof hook === "string" ? hook : formatLine(hook);
}
