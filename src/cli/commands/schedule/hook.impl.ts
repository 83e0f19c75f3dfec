import { hostname } from "node:os";
import type { WallTime } from "../../../core/base/clock.ts";
import { EXIT, UsageError } from "../../../core/base/errors.ts";
import { generateRunId } from "../../../core/base/ids.ts";
import { silentLog } from "../../../core/base/log.ts";
import { quoteText } from "../../../core/base/text.ts";
import { createRunTrace } from "../../../core/base/trace.ts";
import { scrubEnv } from "../../../core/config/scrub.ts";
import { createRealClock } from "../../../core/process/clock.ts";
import { createGuardianHost } from "../../../core/process/host.ts";
import { realRandom } from "../../../core/process/random.ts";
import { HOOK_NAMES, type Hook, type HookName } from "../../../schedule/definition-values.ts";
import { callHook, formatHook } from "../../../worker/hooks/call-hook.ts";
import type { HookPayload } from "../../../worker/hooks/hook-payload.ts";
import type { CommandExecutor, CommandIo } from "../../frame/command.ts";
import { printResult } from "../../frame/json-output.ts";
import { createStoreCommand } from "../../frame/store-command.ts";
import { renderTextTable } from "../../frame/table.ts";
import { parseHook } from "../run/parse-hook.ts";
import type { HookTestFlags } from "./hook.ts";
import { readSchedule } from "./read-schedule.ts";

/** Limit of one attempt, as in a worker, ms. */
const ATTEMPT_TIMEOUT_MS = 10_000;

/** A hook to call. */
interface TestedHook {
  event: HookName;
  hook: Hook;
}

export const execute: CommandExecutor<HookTestFlags> = async (call, io) => {
  const { args, flags } = call;
  const [text] = args;
  const given = flags.schedule !== undefined;
  if (given === (text !== undefined))
    throw new UsageError(
      "hook test needs an address, a command line, or --schedule KEY, and only one of them",
    );
  if (given) return await testHooksOfSchedule(call, io);
  const { event = "failure" } = flags;
  return await testHooks({ flags, io }, "example", [{ event, hook: parseHook(text ?? "", "the hook") }]);
};

const testHooksOfSchedule = createStoreCommand<HookTestFlags>(async (context) => {
  const { id, definition } = await readSchedule(context, context.flags.schedule ?? "");
  const { hooks = {} } = definition;
  const { event } = context.flags;
  const events = event === undefined ? HOOK_NAMES : [event];
  const tested = events.flatMap((one): TestedHook[] => {
    const hook = hooks[one];
    return hook === undefined ? [] : [{ event: one, hook }];
  });
  if (tested.length > 0) return await testHooks(context, id, tested);
  const what = event === undefined ? "no hooks" : `no hook ${event}`;
  throw new UsageError(`schedule ${quoteText(id)} has ${what}; set one with: signalbox schedule edit`);
});

/** Calls hooks one after the other, and prints what came of it. @returns the exit code */
async function testHooks(
  { flags, io }: { flags: HookTestFlags; io: CommandIo },
  schedule: string,
  hooks: readonly TestedHook[],
): Promise<number> {
  const clock = createRealClock();
  const ports = {
    clock,
    random: realRandom,
    log: silentLog,
    commands: createGuardianHost(clock),
    host: hostname(),
    env: scrubEnv(io.env),
  };
  const trace = createRunTrace(generateRunId(realRandom), undefined);
  const limits = { within: ATTEMPT_TIMEOUT_MS, signal: new AbortController().signal, trace };
  const rows: { event: HookName; hook: string; fault: string | null }[] = [];
  for (const { event, hook } of hooks) {
    const payload = buildSamplePayload(event, schedule, ports.host, clock.getWallTime());
    const fault = (await callHook(ports, hook, payload, limits)) ?? null;
    rows.push({ event, hook: formatHook(hook), fault });
  }
  printResult({ flags, io }, { rows }, () =>
    renderTextTable(
      ["event", "hook", "result"],
      rows.map(({ event, hook, fault }) => [event, hook, fault === null ? "ok" : `failed: ${fault}`]),
    ),
  );
  return rows.some(({ fault }) => fault !== null) ? EXIT.undone : EXIT.ok;
}

/** How late, and how long, the made-up run was, ms. */
const EXAMPLE_LATENESS_MS = 90_000;
const EXAMPLE_DURATION_MS = 42_000;
const EXAMPLE_OUTPUT = "This is a test of a hook. No run has failed.";

/** Builds the payload of a made-up run that ends now. */
function buildSamplePayload(event: HookName, schedule: string, host: string, now: WallTime): HookPayload {
  const scheduled = now - EXAMPLE_DURATION_MS - EXAMPLE_LATENESS_MS;
  const common = {
    version: 1 as const,
    event,
    schedule,
    type: schedule.split(".", 1)[0] ?? schedule,
    host,
    scheduled,
    scheduledTime: new Date(scheduled).toISOString(),
  };
  const started = { ...common, run: "test", attempt: 1, late: EXAMPLE_LATENESS_MS };
  const ended = { ...started, startedAt: now - EXAMPLE_DURATION_MS, endedAt: now, isDead: event === "dead" };
  switch (event) {
    case "start":
    case "late":
      return started;
    case "overrun":
      return { ...started, startedAt: now - EXAMPLE_DURATION_MS, bound: EXAMPLE_DURATION_MS };
    case "too-short":
      return { ...ended, result: "ok", code: 0, tail: EXAMPLE_OUTPUT, deviation: event };
    case "missed":
      return { ...common, endedAt: now, result: "skipped", count: 1, until: scheduled };
    case "success":
    case "recovered":
      return { ...ended, result: "ok", code: 0, tail: EXAMPLE_OUTPUT };
    default:
      return { ...ended, result: "failed", code: 1, tail: EXAMPLE_OUTPUT };
  }
}
