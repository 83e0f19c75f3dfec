import type { Guardian, GuardianExit } from "../guarded-command/guardian.ts";
import { GUARDIAN_NAME } from "../guarded-command/guardian-process.ts";
import { isSignalableBy, type ProcessStatus, readProcess } from "../guarded-command/processes.ts";
import { type Frame, GUARDIAN_EVENT, GUARDIAN_EXIT } from "../guarded-command/wire.ts";
import { hasAncestor } from "./caller-check.ts";
import { findGuardedCgroup } from "./guarded-cgroup.ts";
import type { LaunchedCall } from "./launched-call.ts";
import { LAUNCHER_EVENT } from "./wire.ts";

/**
 * The guardians that a launcher has forked. What they report about processes comes from a client, which may be hostile,
 * and this process may be root's: only processes and cgroups of the client's own user are touched.
 */
export class LaunchedGuardian implements Guardian {
  readonly ended: Promise<GuardianExit>;
  readonly owner: number | undefined;
  readonly #call: LaunchedCall;
  readonly #onFrame: (frame: Frame) => void;
  readonly #end = Promise.withResolvers<GuardianExit>();
  /** Start time of the launcher; undefined when it had ended. */
  readonly #launcherBorn: number | undefined;
  #outer: number | undefined;
  #inner: number | undefined;
  #isGone = false;
  #isOver = false;

  constructor(call: LaunchedCall, onFrame: (frame: Frame) => void) {
    this.#call = call;
    this.#onFrame = onFrame;
    this.owner = call.peer.uid === 0 ? undefined : call.peer.uid;
    this.ended = this.#end.promise;
    this.#launcherBorn = readProcess(call.pid)?.born;
    void this.#receive();
  }

  /** Set by PLACE. */
  get pid(): number | undefined {
    return this.#outer;
  }

  /** Whether the guardians were ordered. */
  get hasBegun(): boolean {
    return this.#isOver || this.#call.isGuarded;
  }

  /** Orders the guardians. */
  begin(): void {
    if (!this.#isOver) this.#call.guard();
  }

  setInnerPid(inner: number): void {
    this.#inner = inner;
  }

  wake(): void {
    this.#signal("SIGCONT", ({ isStopped }) => isStopped);
  }

  kill(): void {
    this.#signal("SIGKILL", () => true);
  }

  send(frames: Buffer): void {
    this.#call.sendRequests(frames);
  }

  close(): void {
    this.#call.destroy();
  }

  /** Begins when the command that uses this object is complete: events may have arrived before. */
  async #receive(): Promise<void> {
    await undefined;
    this.#call.setEventHandler((frame) => this.#handleFrame(frame));
    await this.#call.closed;
    this.#handleClose();
  }

  #handleFrame(frame: Frame): void {
    if (frame.kind === LAUNCHER_EVENT.guardiansEnded) return this.#finish(parseExitCode(frame.a));
    if (frame.kind === GUARDIAN_EVENT.gone) this.#isGone = true;
    this.#onFrame(frame.kind === GUARDIAN_EVENT.place ? this.#handlePlace(frame) : frame);
  }

  /** Keeps the ids of the guardians. @returns the frame, without a cgroup that is not theirs */
  #handlePlace(frame: Frame): Frame {
    const [inner, outer] = [Number(frame.a), Number(frame.b)];
    this.#outer = outer > 1 ? outer : undefined;
    const status = readProcess(inner);
    if (status === undefined || !this.#isGuardian(status)) return { ...frame, block: Buffer.alloc(0) };
    const cgroup = findGuardedCgroup(frame.block.toString(), inner, this.#call.peer.uid);
    return { ...frame, block: Buffer.from(cgroup) };
  }

  /**
   * The launcher and both guardians share the connection, so all have ended, or this process has cut it because they do
   * not read.
   */
  #handleClose(): void {
    if (this.#isOver) return;
    this.kill();
    this.#finish(this.#isGone ? GUARDIAN_EXIT.gone : undefined);
  }

  #finish(code: number | undefined): void {
    this.#isOver = true;
    this.#end.resolve({ code });
  }

  /** Signals the guardians for which `isMeant` holds. */
  #signal(name: "SIGCONT" | "SIGKILL", isMeant: (status: ProcessStatus) => boolean): void {
    if (this.#isOver) return;
    for (const pid of [this.#inner, this.#outer]) {
      const status = pid === undefined ? undefined : readProcess(pid);
      if (status !== undefined && isMeant(status) && this.#isGuardian(status)) sendSignal(status.pid, name);
    }
  }

  /** Whether a process may be a guardian of this call, so that its user could signal it as well. */
  #isGuardian(status: ProcessStatus): boolean {
    if (status.isDead || !isSignalableBy(status.pid, this.#call.peer.uid)) return false;
    const launcher = readProcess(this.#call.pid);
    const isAlive = launcher?.isDead === false && launcher.born === this.#launcherBorn;
    return isAlive ? hasAncestor(status, this.#call.pid) : status.name === GUARDIAN_NAME;
  }
}

/** Parses a wait status of waitpid(2). @returns undefined when a signal ended the process */
function parseExitCode(status: bigint): number | undefined {
  return (status & 0x7fn) === 0n ? Number((status >> 8n) & 0xffn) : undefined;
}

function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // it has just ended
  }
}
