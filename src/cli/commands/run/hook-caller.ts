import { generateRunId } from "../../../core/base/ids.ts";
import { clean } from "../../../core/base/text.ts";
import { createRunTrace, readTraceContext } from "../../../core/base/trace.ts";
import { scrubEnv } from "../../../core/config/scrub.ts";
import { createGuardianHost } from "../../../core/process/host.ts";
import { ENDING_SIGNALS } from "../../../core/run/command-supervisor.ts";
import type { RunPorts } from "../../../core/run/request.ts";
import type { Hook } from "../../../schedule/definition-values.ts";
import { callHook, formatHook, type HookPorts } from "../../../worker/hooks/call-hook.ts";
import type { HookPayload } from "../../../worker/hooks/hook-payload.ts";
import type { CommandIo } from "../../frame/command.ts";
import { parseHook } from "./parse-hook.ts";
import type { RunFlags } from "./run.ts";

/** Limit of one attempt, ms, as in a worker. */
const ATTEMPT_TIMEOUT_MS = 10_000;

/** What hooks tell of a run at any time. */
export type HookedRun = Pick<HookPayload, "locks" | "command" | "host" | "run">;
/** What they tell of its end besides. */
export type HookedEnd = Pick<HookPayload, "result" | "reason" | "startedAt" | "endedAt" | "tail"> & {
  code: number;
};

/** The hooks of one run. */
export type HookList = Readonly<Record<"start" | "success" | "failure", readonly Hook[]>>;

/** @throws UsageError */
export function parseRunHooks({ ping, "on-success": success, "on-failure": failure }: RunFlags): HookList {
  const pings = ping === undefined ? [] : [`ping+${ping}`];
  return {
    start: pings,
    success: [...pings, ...(success === undefined ? [] : [parseHook(success, "--on-success")])],
    failure: [...pings, ...(failure === undefined ? [] : [parseHook(failure, "--on-failure")])],
  };
}

/** Calls the hooks of one run, in its environment, with the engine of schedules. Nothing here rejects. */
export class HookCaller {
  readonly #hooks: HookList;
  readonly #ports: Omit<HookPorts, "host">;
  readonly #io: CommandIo;

  constructor(
    hooks: HookList,
    { clock, random, log }: Pick<RunPorts, "clock" | "random" | "log">,
    io: CommandIo,
  ) {
    this.#hooks = hooks;
    this.#io = io;
    const commands = createGuardianHost(clock, undefined, (text) => log.warn(text));
    this.#ports = { clock, random, log, commands, env: scrubEnv(io.env) };
  }

  async callStart(run: HookedRun, signal: AbortSignal): Promise<void> {
    await this.#call({ ...run, version: 1, event: "start", host: run.host }, signal);
  }

  /** Calls those of the end for a limited time, or until a signal ends that. */
  async callEnd(run: HookedRun, end: HookedEnd): Promise<void> {
    const stop = new AbortController();
    const stopListening = this.#io.onSignal((name) => {
      if (ENDING_SIGNALS.includes(name)) stop.abort(new Error(`interrupted by ${name}`));
    });
    const event = end.code === 0 ? "success" : "failure";
    await this.#call({ ...run, ...end, version: 1, event }, stop.signal);
    stopListening();
  }

  async #call(payload: HookPayload & { event: keyof HookList }, signal: AbortSignal): Promise<void> {
    const { event, run = generateRunId(this.#ports.random), host } = payload;
    const trace = createRunTrace(run, readTraceContext(this.#io.env));
    const limits = { within: ATTEMPT_TIMEOUT_MS, signal, trace };
    await Promise.all(
      this.#hooks[event].map(async (hook) => {
        const error = await callHook({ ...this.#ports, host }, hook, payload, limits);
        if (error !== undefined)
          this.#ports.log.warn("a hook failed", { event, hook: formatHook(hook), error: clean(error) });
      }),
    );
  }
}
