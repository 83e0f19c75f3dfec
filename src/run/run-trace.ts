import type { Clock } from "../base/clock.ts";
import { generateRunId } from "../base/ids.ts";
import type { Random } from "../base/random.ts";
import { createPartTrace, createRunTrace, type Span } from "../base/trace.ts";
import type { CommandExit } from "../process/guarded-command/command.ts";
import { describeCommand } from "../process/guarded-command/command-span.ts";
import type { RunRequest, RunStep } from "./request.ts";

/** How a run ended. */
interface RunEnd {
  /** Exit code of `signalbox run`. */
  code: number;
  refusal?: { kind: string };
  exit?: CommandExit;
  /** Why the command was ended. */
  ending?: { kind: string } | undefined;
  /** The kind of the error, if the command was not run. */
  error?: string;
}

type Steps = { readonly [K in RunStep["kind"]]?: Extract<RunStep, { kind: K }> };

/** Notes when the steps of a run happen, and describes them as spans when it has ended. */
export class RunTrace {
  readonly #ports: { clock: Clock; random: Random };
  readonly #request: RunRequest;
  readonly #begunAt: number;
  #steps: Steps = {};

  constructor(ports: { clock: Clock; random: Random }, request: RunRequest) {
    this.#ports = ports;
    this.#request = request;
    this.#begunAt = ports.clock.getWallTime();
  }

  addStep(step: RunStep): void {
    this.#steps = { ...this.#steps, [step.kind]: step };
  }

  /** Builds the spans: the run, with its claim, in which it waits, and its hold, in which the command runs. */
  buildSpans(end: RunEnd): Span[] {
    const { granted, started, exited } = this.#steps;
    const { caller, command, identity } = this.#request;
    const endedAt = this.#ports.clock.getWallTime();
    // Another process may have begun a run that an agent has taken over.
    const startedAt = Math.min(this.#begunAt, granted?.enqueuedAt ?? endedAt);
    const context = createRunTrace(granted?.run ?? generateRunId(this.#ports.random), caller);
    const [claim, hold] = [createPartTrace(context, "claim"), createPartTrace(context, "hold")];
    const grantedAt = granted?.grantedAt ?? endedAt;
    const ending = end.ending?.kind === "signal" ? undefined : end.ending?.kind;
    const { error: failure, ...call } = describeCommand({
      file: command.file,
      args: identity.args,
      pid: started?.pid,
      exit: end.exit ?? UNKNOWN_EXIT,
      ending,
    });
    const buildSpan = (name: string, span: Pick<Span, "context" | "parent" | "startedAt" | "endedAt">) => ({
      name,
      kind: "internal" as const,
      attributes: {},
      ...span,
    });
    const spans: Span[] = [
      {
        ...buildSpan("run", { context, parent: caller, startedAt, endedAt }),
        attributes: this.#describeRun(end),
        error: end.error ?? (end.exit && failure),
      },
      buildSpan("claim", { context: claim, parent: context, startedAt, endedAt: grantedAt }),
    ];
    if (granted === undefined) return spans;
    spans.push(
      buildSpan("wait", {
        context: createPartTrace(context, "wait"),
        parent: claim,
        startedAt: granted.enqueuedAt,
        endedAt: grantedAt,
      }),
      buildSpan("hold", { context: hold, parent: context, startedAt: grantedAt, endedAt }),
    );
    if (started !== undefined && exited !== undefined)
      spans.push({
        ...call,
        context: createPartTrace(context, "command"),
        parent: hold,
        startedAt: started.at,
        endedAt: exited.at,
        error: failure,
      });
    return spans;
  }

  #describeRun({ code, refusal }: RunEnd): Span["attributes"] {
    const { locks, leases, identity } = this.#request;
    const { granted } = this.#steps;
    return {
      "signalbox.locks": [...locks],
      "signalbox.leases": leases.map(({ resource, count }) => `${resource}=${count}`),
      "signalbox.label": identity.label,
      "signalbox.run": granted?.run,
      "signalbox.token": granted?.token,
      "signalbox.refusal": refusal?.kind,
      "process.exit.code": code,
    };
  }
}

const UNKNOWN_EXIT: CommandExit = { code: undefined, signal: undefined, terminated: false, leftovers: false };
