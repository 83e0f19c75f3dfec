import type { WallTime } from "../../../core/base/clock.ts";
import { generateRunId } from "../../../core/base/ids.ts";
import { pickDefined } from "../../../core/base/pick-defined.ts";
import { clean } from "../../../core/base/text.ts";
import { createRunTrace } from "../../../core/base/trace.ts";
import { waitAtMost } from "../../../core/base/wait.ts";
import { scrubEnv } from "../../../core/config/scrub.ts";
import { createGuardianHost } from "../../../core/process/host.ts";
import { ENDING_SIGNALS } from "../../../core/run/command-supervisor.ts";
import type { RunResult } from "../../../core/run/run.ts";
import type { Hook } from "../../../schedule/definition-values.ts";
import { callHook, formatHook, type HookPorts } from "../../../worker/hooks/call-hook.ts";
import type { HookPayload } from "../../../worker/hooks/hook-payload.ts";
import { explainError } from "../../frame/command-line/execute-command.ts";
import type { ExtendedRun } from "./extended-run.ts";
import { parseHook } from "./parse-hook.ts";

/** Limit of one attempt, ms, as in a worker. */
const ATTEMPT_TIMEOUT_MS = 10_000;
/** How long the end of the run waits for the call at its start, which should arrive first, ms. */
const START_TIMEOUT_MS = 2_000;

type RunEvent = "start" | "success" | "failure";

/**
 * Calls the hooks of one run, with the engine of schedules. The command does not wait for them, nor does its claim: those
 * at the end are called when it is free. A run without a claim calls none, because another host may have it.
 */
export class RunHooks {
  readonly #run: ExtendedRun;
  readonly #hooks: Readonly<Record<RunEvent, readonly Hook[]>>;
  readonly #ports: HookPorts;
  readonly #stop = new AbortController();
  readonly #startStop = new AbortController();
  #id = "";
  #startedAt: WallTime | undefined;
  #starting: Promise<void> = Promise.resolve();

  /** @throws UsageError */
  static create(run: ExtendedRun): RunHooks {
    const { ping, "on-success": success, "on-failure": failure } = run.call.flags;
    const pings = ping === undefined ? [] : [`ping+${ping}`];
    return new RunHooks(run, {
      start: pings,
      success: [...pings, ...(success === undefined ? [] : [parseHook(success, "--on-success")])],
      failure: [...pings, ...(failure === undefined ? [] : [parseHook(failure, "--on-failure")])],
    });
  }

  constructor(run: ExtendedRun, hooks: Readonly<Record<RunEvent, readonly Hook[]>>) {
    const { ports, io, connection } = run;
    const { clock, random, log, onGrant, onAttempt } = ports;
    this.#run = run;
    this.#hooks = hooks;
    this.#ports = {
      clock,
      random,
      log,
      commands: createGuardianHost(clock, undefined, (text) => log.warn(text)),
      host: connection.facts.fqdn,
      env: scrubEnv(io.env),
    };
    ports.onAttempt = (attempt) => {
      this.#id = attempt.run;
      return onAttempt?.(attempt);
    };
    ports.onGrant = () => {
      onGrant?.();
      this.#startedAt = clock.getWallTime();
      setImmediate(() => {
        this.#starting = this.#call("start", {}, this.#startStop.signal); // when the guardian has the order to start the command
      });
    };
  }

  /** Calls the hooks of the end, if the run had its claim, for a limited time. Never rejects. */
  async close(running: Promise<RunResult>, tail: string | undefined): Promise<void> {
    const startedAt = this.#startedAt;
    if (startedAt === undefined) return;
    const { clock } = this.#ports;
    const stop = this.#run.io.onSignal((name) => {
      if (ENDING_SIGNALS.includes(name)) this.#stop.abort(new Error(`interrupted by ${name}`));
    });
    const end = await running.then(describeEnd, describeFault);
    await waitAtMost(clock, START_TIMEOUT_MS, this.#starting);
    this.#startStop.abort(new Error("the run has ended first"));
    const fields = { ...end, ...pickDefined({ tail }), startedAt, endedAt: clock.getWallTime() };
    await this.#call(end.result === "ok" ? "success" : "failure", fields, this.#stop.signal);
    stop();
  }

  async #call(event: RunEvent, fields: Partial<HookPayload>, signal: AbortSignal): Promise<void> {
    const { request } = this.#run;
    const { locks, identity, caller } = request;
    const { command, host } = identity;
    const run = this.#id;
    const payload = { version: 1 as const, event, locks, command, host, run, ...fields };
    const trace = createRunTrace(run === "" ? generateRunId(this.#ports.random) : run, caller);
    const limits = { within: ATTEMPT_TIMEOUT_MS, signal, trace };
    await Promise.all(
      this.#hooks[event].map(async (hook) => {
        const error = await callHook(this.#ports, hook, payload, limits);
        if (error !== undefined)
          this.#ports.log.warn("a hook failed", { event, hook: formatHook(hook), error: clean(error) });
      }),
    );
  }
}

function describeEnd(result: RunResult): Pick<HookPayload, "code" | "result" | "reason"> {
  const ending = result.kind === "ended" ? result.ending : undefined;
  const kind = ending === undefined || ending.kind === "signal" ? "failed" : ending.kind;
  return {
    code: result.code,
    result: result.code === 0 ? "ok" : kind,
    ...pickDefined({ reason: ending?.why }),
  };
}

/** Describes the end of a run whose command was not started. */
function describeFault(error: unknown): Pick<HookPayload, "code" | "result" | "reason"> {
  const { exitCode: code, message: reason } = explainError(error);
  return { code, result: "failed", reason };
}
