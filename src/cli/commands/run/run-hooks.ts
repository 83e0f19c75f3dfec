import { type WallTime, waitAtMost } from "../../../core/base/clock.ts";
import { pickDefined } from "../../../core/base/pick-defined.ts";
import type { RunResult } from "../../../core/run/run.ts";
import { findLaunchedRun, type LaunchedRun } from "../../frame/call-note.ts";
import { explainError } from "../../frame/command-line/execute-command.ts";
import type { ExtendedRun } from "./extended-run.ts";
import { HookCaller, type HookedEnd, type HookedRun, type HookList, parseRunHooks } from "./hook-caller.ts";

/** How long the end of the run waits for the call at its start, which should arrive first, ms. */
const START_TIMEOUT_MS = 2_000;
/** Longest reason that a launcher passes on, characters: the system limits a variable to 128 KiB. */
const LAUNCHED_REASON_LENGTH = 4_096;

/**
 * The hooks of one run. The command does not wait for them, nor does its claim: those at the end are called when it is free.
 * A run without a claim calls none, because another host may have it.
 */
export interface RunHooks {
  /** Calls the hooks of the end, if the run had its claim. Never rejects. */
  close(running: Promise<RunResult>, tail: string | undefined): Promise<void>;
}

/** @throws UsageError */
export function createRunHooks(run: ExtendedRun): RunHooks {
  const hooks = parseRunHooks(run.call.flags);
  const launched = findLaunchedRun(run.io);
  return launched === undefined ? new OwnHooks(run, hooks) : new ServedHooks(run, hooks, launched);
}

/** Follows a run: what its hooks tell. */
class FollowedRun {
  readonly #run: ExtendedRun;
  #id: string | undefined;
  startedAt: WallTime | undefined;

  constructor(run: ExtendedRun, onStart: () => void) {
    const { ports } = run;
    const { onGrant, onAttempt } = ports;
    this.#run = run;
    ports.onAttempt = (attempt) => {
      this.#id = attempt.run;
      return onAttempt?.(attempt);
    };
    ports.onGrant = () => {
      onGrant?.();
      this.startedAt = ports.clock.getWallTime();
      onStart();
    };
  }

  describe(): HookedRun {
    const { locks, identity } = this.#run.request;
    const { command, host } = identity;
    return { locks, command, host, ...pickDefined({ run: this.#id }) };
  }

  describeEnd(end: Pick<HookedEnd, "code" | "result" | "reason">): HookedEnd {
    const endedAt = this.#run.ports.clock.getWallTime();
    return { ...end, ...pickDefined({ startedAt: this.startedAt }), endedAt };
  }
}

/** Hooks that this process calls. */
class OwnHooks implements RunHooks {
  readonly #run: ExtendedRun;
  readonly #caller: HookCaller;
  readonly #followed: FollowedRun;
  readonly #startStop = new AbortController();
  #starting: Promise<void> = Promise.resolve();

  constructor(run: ExtendedRun, hooks: HookList) {
    this.#run = run;
    this.#caller = new HookCaller(hooks, run.ports, run.io);
    this.#followed = new FollowedRun(run, () => {
      setImmediate(() => {
        this.#starting = this.#caller.callStart(this.#followed.describe(), this.#startStop.signal); // when the guardian has the order to start the command
      });
    });
  }

  async close(running: Promise<RunResult>, tail: string | undefined): Promise<void> {
    if (this.#followed.startedAt === undefined) return;
    const end = this.#followed.describeEnd(await running.then(describeEnd, describeFault));
    await waitAtMost(this.#run.ports.clock, START_TIMEOUT_MS, this.#starting);
    this.#startStop.abort(new Error("the run has ended first"));
    await this.#caller.callEnd(this.#followed.describe(), { ...end, ...pickDefined({ tail }) });
  }
}

/** Hooks of a run that this agent serves. A process of the launcher calls them, which has the environment and the output. */
class ServedHooks implements RunHooks {
  readonly #hooks: HookList;
  readonly #followed: FollowedRun;
  /** Whether the command may have been started: by this agent, or by one before it. */
  #isHeld: boolean;
  #end: HookedEnd | undefined;

  constructor(run: ExtendedRun, hooks: HookList, launched: LaunchedRun) {
    const { isStarted = false, plannedRetry } = run.ports;
    this.#hooks = hooks;
    this.#isHeld = isStarted || plannedRetry !== undefined;
    this.#followed = new FollowedRun(run, () => {
      this.#isHeld = true;
    });
    launched.setHooks({
      isStartTold: hooks.start.length > 0,
      describeRun: () => JSON.stringify(this.#followed.describe()),
      describeEnd: () => this.#end && JSON.stringify(this.#end),
    });
  }

  async close(running: Promise<RunResult>): Promise<void> {
    if (!this.#isHeld) return;
    const end = await running.then(describeEnd, describeFault);
    if (this.#hooks[end.code === 0 ? "success" : "failure"].length === 0) return;
    const reason = end.reason?.slice(0, LAUNCHED_REASON_LENGTH);
    this.#end = this.#followed.describeEnd({ ...end, ...pickDefined({ reason }) });
  }
}

function describeEnd(result: RunResult): Pick<HookedEnd, "code" | "result" | "reason"> {
  const ending = result.kind === "ended" ? result.ending : undefined;
  const kind = ending === undefined || ending.kind === "signal" ? "failed" : ending.kind;
  return {
    code: result.code,
    result: result.code === 0 ? "ok" : kind,
    ...pickDefined({ reason: ending?.why }),
  };
}

/** Describes the end of a run whose command was not started. */
function describeFault(error: unknown): Pick<HookedEnd, "code" | "result" | "reason"> {
  const { exitCode: code, message: reason } = explainError(error);
  return { code, result: "failed", reason };
}
