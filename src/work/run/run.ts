import { EXIT, SignalboxError } from "../../base/errors.ts";
import { SessionLost } from "../../etcd/session.ts";
import type { GuardedCommand } from "../../process/command.ts";
import type { Grant } from "./acquire.ts";
import { claim } from "./claim.ts";
import { finish } from "./finish.ts";
import { Holding, type Outcome } from "./hold.ts";
import { memoryOf } from "./memory.ts";
import { refused } from "./refused.ts";
import type { RunPorts, RunRequest } from "./request.ts";
import { Interrupted, SignalDesk } from "./signals.ts";
import type { Refusal } from "./step.ts";

/** What became of a run; `code` is what `signalbox run` exits with. */
export type RunResult =
  | { kind: "refused"; code: number; refusal: Refusal }
  /** A signal came before the command was started. */
  | { kind: "interrupted"; code: number }
  | ({ kind: "ended"; code: number } & Outcome);

/**
 * `signalbox run`: claims, runs the command while the claim is held, frees the claim.
 * @throws SignalboxError or StoreError when the command was not run
 */
export async function run(ports: RunPorts, request: RunRequest): Promise<RunResult> {
  const desk = new SignalDesk(ports, request.logReopens ? ["SIGUSR2"] : []);
  const preparing = ports.commands.prepare(request.command);
  preparing.catch(() => {}); // reported where it is awaited
  try {
    const claimed = await claim(ports, request, desk.signal);
    if (claimed.kind === "refused") {
      const { refusal } = claimed;
      return { kind: "refused", code: refused(ports, request, refusal), refusal };
    }
    return await runHeld(ports, request, claimed.grant, preparing, desk);
  } catch (error) {
    if (error instanceof Interrupted) return { kind: "interrupted", code: error.exitCode };
    throw error;
  } finally {
    desk.close();
    await preparing.then((command) => command.release()).catch(() => {});
  }
}

async function runHeld(
  ports: RunPorts,
  request: RunRequest,
  grant: Grant,
  preparing: Promise<GuardedCommand>,
  desk: SignalDesk,
): Promise<RunResult> {
  try {
    ports.onGrant?.(); // in here, so that whatever it throws frees the claim
    const holding = new Holding(ports, request, grant, await preparing);
    grant.attempt.session.keep(holding);
    const outcome = await holding.run(commandEnv(request, grant), desk);
    const code = exitCodeOf(outcome);
    await finish(ports, {
      grant,
      memory: memoryOf(ports, request, grant, { exit: code, reason: outcome.ending?.why }),
      graceUntil: outcome.ending?.kind === "lost" ? undefined : graceUntil(request, grant),
    });
    report(ports, outcome, code);
    return { kind: "ended", code, ...outcome };
  } catch (error) {
    const failure = startFailure(error);
    const known = failure instanceof SignalboxError || failure instanceof Interrupted;
    const code = known ? failure.exitCode : EXIT.internal;
    const memory = memoryOf(ports, request, grant, { exit: code, reason: failure.message });
    await finish(ports, { grant, memory, graceUntil: undefined });
    throw failure;
  }
}

function graceUntil({ grace, graceFrom }: RunRequest, { grantedAt }: Grant): number | undefined {
  return grace === undefined ? undefined : (graceFrom ?? grantedAt) + grace;
}

function startFailure(error: unknown): Error {
  if (error instanceof SessionLost) {
    const message = `the session was lost before the command could be started: ${error.message}`;
    const code = error.kind === "horizon" ? EXIT.unreachable : EXIT.lost;
    return new SignalboxError(code, message, { cause: error });
  }
  return error instanceof Error ? error : new Error(String(error));
}

/** What the command is told about its claim; nothing of it is a credential. */
function commandEnv(request: RunRequest, { attempt, places }: Grant): Record<string, string> {
  const leases = request.leases.map(({ resource, count }) => [resource, count]);
  return {
    SIGNALBOX_TOKEN: String(places[0]?.createRevision),
    ...(attempt.lockKey !== undefined && { SIGNALBOX_LOCK_KEY: attempt.lockKey }),
    SIGNALBOX_RUN: attempt.run,
    SIGNALBOX_HOST: request.identity.host,
    SIGNALBOX_LEASES: JSON.stringify(Object.fromEntries(leases)),
  };
}

function exitCodeOf({ exit, ending }: Outcome): number {
  if (ending?.kind === "lost") return EXIT.lost;
  if (ending?.kind === "timeout") return EXIT.timeout;
  return exit.code ?? 128 + (exit.signal ?? 0);
}

function report(ports: RunPorts, { ending }: Outcome, code: number): void {
  if (ending?.kind === "lost")
    ports.log.error("the claim was lost, the command was terminated", { why: ending.why });
  else if (ending?.kind === "timeout") ports.log.error("the command was terminated", { why: ending.why });
  else ports.log.info("finished", { code });
}
