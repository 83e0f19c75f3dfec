import { lstatSync, statfsSync } from "node:fs";
import { addMs, type BootTime, type Clock, LONG_AGO } from "../../base/clock.ts";
import { EXIT, SignalboxError } from "../../base/errors.ts";
import type { CommandHost } from "../guarded-command/command.ts";
import { GUARDIAN_NAME, type Guardian, type GuardianExit } from "../guarded-command/guardian-process.ts";
import {
  type NativeCommandOptions,
  NativeGuardedCommand,
} from "../guarded-command/native-guarded-command.ts";
import { signalProcess } from "../guarded-command/orphans.ts";
import {
  isSignalableBy,
  type ProcessStatus,
  readProcess,
  readProcFile,
} from "../guarded-command/processes.ts";
import { encodeEnvironment, type Frame, GUARDIAN_EVENT, GUARDIAN_EXIT } from "../guarded-command/wire.ts";
import type { LaunchedCall } from "./launched-call.ts";
import { hasAncestor } from "./peer.ts";
import { LAUNCHER_EVENT } from "./wire.ts";

/** Longest pause between two attempts to kill a guardian that cannot die yet, ms. */
const PAUSE_MAX_MS = 250;
/** Interval of routine checks for stopped guardians, ms. At their deadline, the watchdog checks in any case. */
const WAKE_EVERY_MS = 30_000;

/**
 * The guardians that a launcher has forked. Their reports come from a client that may be hostile, and this process may
 * be root's. So it touches only processes and cgroups of the client's own user.
 */
export class LaunchedGuardian implements Guardian {
  readonly ended: Promise<GuardianExit>;
  readonly owner: number | undefined;
  readonly #call: LaunchedCall;
  readonly #clock: Clock;
  readonly #onFrame: (frame: Frame) => void;
  readonly #end = Promise.withResolvers<GuardianExit>();
  #outer: number | undefined;
  /** Start times of the guardians by process id. */
  readonly #guardians = new Map<number, number>();
  /** When to make the next routine check for stopped guardians. */
  #wakeFrom = LONG_AGO;
  /** Whether a guardian has reported its process id. */
  #hasReported = false;
  #isGone = false;
  #isKilled = false;
  #isOver = false;

  constructor(call: LaunchedCall, clock: Clock, onFrame: (frame: Frame) => void) {
    this.#call = call;
    this.#clock = clock;
    this.#onFrame = onFrame;
    this.owner = call.peer.uid === 0 ? undefined : call.peer.uid;
    this.ended = this.#end.promise;
    void this.#receive();
  }

  /** Set by PLACE. */
  get pid() {
    return this.#outer;
  }

  /** Whether the guardians were ordered. */
  get hasBegun(): boolean {
    return this.#isOver || this.#call.isGuarded;
  }

  setInnerPid(inner: number) {
    this.#addGuardian(inner);
  }

  /** Skips most routine checks: with a thousand commands, one at each renewal would take a few percent of a processor. */
  wake(isRoutine = false) {
    const now = this.#clock.now();
    if (isRoutine && now < this.#wakeFrom) return;
    this.#wakeFrom = addMs(now, WAKE_EVERY_MS);
    this.#signal("SIGCONT", ({ isStopped }) => isStopped);
  }

  /**
   * Does not need the launcher, which may be stopped or frozen too: `ended` resolves when the guardians are dead. If they
   * have not reported, the launcher may not have forked them yet. It must not start the command later, so this cuts the
   * connection: a START is refused once the connection has ended. Until then, the guardians may still report.
   */
  kill() {
    if (this.#isKilled || this.#isOver) return;
    this.#isKilled = true;
    if (this.#hasReported) return void this.#killUntilDead();
    this.#call.destroy();
    void this.#call.closed.then(() => this.#killUntilDead());
  }

  /** Orders the guardians with the first request. */
  send(frames: Buffer) {
    if (this.#isOver) return;
    this.#call.guard();
    this.#call.sendRequests(frames);
  }

  close() {
    this.#call.destroy();
  }

  /** Waits a microtask, until the command that owns this object is constructed. Then handles events, also earlier ones. */
  async #receive(): Promise<void> {
    await undefined;
    this.#call.setEventHandler((frame) => this.#handleFrame(frame));
    await this.#call.closed;
    // The launcher and both guardians share the connection: either all have ended, or it was cut because they do not read.
    this.kill();
  }

  #handleFrame(frame: Frame): void {
    if (this.#isOver) return;
    if (frame.kind === LAUNCHER_EVENT.guardiansEnded) return this.#finish(parseExitCode(frame.a));
    if (frame.kind === GUARDIAN_EVENT.gone) this.#isGone = true;
    this.#onFrame(frame.kind === GUARDIAN_EVENT.place ? this.#handlePlace(frame) : frame);
  }

  /** Stores the ids of the guardians. @returns the frame, without the cgroup if that is not the guardians' */
  #handlePlace(frame: Frame): Frame {
    const [inner, outer] = [Number(frame.a), Number(frame.b)];
    this.#outer = outer > 1 ? outer : undefined;
    this.#guardians.clear();
    this.#addGuardian(outer);
    const isFound = this.#addGuardian(inner);
    const cgroup = isFound ? findGuardedCgroup(frame.block.toString(), inner, this.#call.peer.uid) : "";
    return { ...frame, block: Buffer.from(cgroup) };
  }

  /** @returns false for a process that cannot be a guardian of this call */
  #addGuardian(pid: number): boolean {
    this.#hasReported = true;
    const status = readProcess(pid);
    if (status === undefined || !this.#canBeGuardian(status)) return false;
    this.#guardians.set(pid, status.born);
    return true;
  }

  async #killUntilDead(): Promise<void> {
    for (let pause = 2; !this.#isOver; pause = Math.min(2 * pause, PAUSE_MAX_MS)) {
      this.#signal("SIGKILL", () => true);
      if (this.#listGuardians().length === 0)
        return this.#finish(this.#isGone ? GUARDIAN_EXIT.gone : undefined);
      await this.#clock.sleep(pause);
    }
  }

  #finish(code: number | undefined): void {
    this.#isOver = true;
    this.#end.resolve({ code });
  }

  /** Signals the guardians for which `isMeant` holds. */
  #signal(name: "SIGCONT" | "SIGKILL", isMeant: (status: ProcessStatus) => boolean): void {
    if (this.#isOver) return;
    for (const status of this.#listGuardians(isMeant))
      signalProcess(status, name, () => isSignalableBy(status.pid, this.#call.peer.uid));
  }

  #listGuardians(isMeant: (status: ProcessStatus) => boolean = () => true): ProcessStatus[] {
    return [...this.#guardians].flatMap(([pid, born]) => {
      const status = readProcess(pid);
      const isFound = status?.born === born && isMeant(status) && this.#canBeGuardian(status);
      return isFound ? [status] : [];
    });
  }

  /**
   * Whether a process may be a guardian of this call: its user could signal it too, and it is below the launcher, or has
   * lost its parents and has the name of guardians.
   */
  #canBeGuardian(status: ProcessStatus): boolean {
    if (status.isDead || status.pid === process.pid) return false;
    if (!isSignalableBy(status.pid, this.#call.peer.uid)) return false;
    return status.name === GUARDIAN_NAME || hasAncestor(status, this.#call.request.pid);
  }
}

/** Parses a wait status of waitpid(2). @returns undefined when a signal ended the process */
function parseExitCode(status: bigint): number | undefined {
  return (status & 0x7fn) === 0n ? Number((status >> 8n) & 0xffn) : undefined;
}

/** Where cgroups of version 2 are mounted, as in guardian/cgroup.c. */
const CGROUP_MOUNTS = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];
const CGROUP2_MAGIC = 0x63677270;
/** The names that guardians give to the cgroups of their commands (guardian/abandoned-cgroups.c). */
const CGROUP_NAME = /^signalbox-run-\d+-[0-9a-f]+$/;

/**
 * Checks the path of a command's cgroup that a guardian reports: it must be a cgroup below the guardian's own, with a
 * guardian's name, and belong to the guardian's user. Otherwise a client could make the agent write to any path.
 * @returns the path, or "" when it is not such a cgroup
 */
export function findGuardedCgroup(path: string, guardian: number, uid: number): string {
  const slash = path.lastIndexOf("/");
  const parent = path.slice(0, slash);
  if (!CGROUP_NAME.test(path.slice(slash + 1)) || parent.split("/").includes("..")) return "";
  const home = readHome(guardian);
  const isBelow =
    home !== undefined && CGROUP_MOUNTS.some((mount) => parent === `${mount}${home}` && isCgroup2(mount));
  return isBelow && isOwnDirectory(path, uid) ? path : "";
}

/** Reads the path of a process's cgroup below the mount; "" for the root. @see cgroups(7) */
function readHome(pid: number): string | undefined {
  const text = readProcFile(pid, "cgroup");
  const bytes = text === undefined ? "" : Buffer.from(text, "latin1").toString();
  const [, home] = /^0::(\/.*)$/m.exec(bytes) ?? [];
  return home === "/" ? "" : home;
}

function isCgroup2(mount: string): boolean {
  try {
    return statfsSync(mount).type === CGROUP2_MAGIC;
  } catch {
    return false;
  }
}

function isOwnDirectory(path: string, uid: number): boolean {
  const status = lstatSync(path, { throwIfNoEntry: false });
  return status?.isDirectory() === true && status.uid === uid;
}

/**
 * Creates a command host that runs the command of a call under the guardians of its launcher. They are ordered when the
 * command is first given deadlines, so a call that waits has no guardians. For a call that is `running`, `prepare`
 * first returns its command, which is already started.
 * @param ports.readBootTime  Callers with another clock are declined, so the guardians
 * use the same one
 * @param runId  the value of SIGNALBOX_RUN in the environment of a command that is already started
 * @throws SignalboxError from `prepare`: 126 when an argument is invalid, 125 when the guardians of an earlier command have
 * not ended for the launcher
 */
export function createLaunchedCommandHost(
  call: LaunchedCall,
  ports: { clock: Clock; readBootTime(): BootTime },
  runId?: string,
): CommandHost {
  let isRunning = call.request.state === "running";
  return {
    prepare: async (spec) => {
      if (call.isGuarded && !isRunning)
        throw new SignalboxError(EXIT.lost, "its launcher has not reported the end of the last attempt");
      const command = new LaunchedCommand(call, {
        ...ports,
        spec,
        runId,
        isRunning,
        environment: encodeRemovals(spec.removed ?? []),
        createGuardian: (onFrame) => new LaunchedGuardian(call, ports.clock, onFrame),
      });
      isRunning = false;
      return command;
    },
  };
}

/** A command under the guardians of a launcher. */
class LaunchedCommand extends NativeGuardedCommand<LaunchedGuardian> {
  readonly #call: LaunchedCall;

  constructor(call: LaunchedCall, options: NativeCommandOptions<LaunchedGuardian>) {
    super(options);
    this.#call = call;
  }

  override signal(name: NodeJS.Signals): void {
    if (!this.#call.takeDelivery(name)) super.signal(name);
  }

  override async release(): Promise<void> {
    if (this.guardian.hasBegun) await super.release();
  }
}

/** Entries without `=` remove variables of the launcher's environment. */
function encodeRemovals(names: readonly string[]): Buffer[] {
  const bad = names.find((name) => name === "" || /[=\0]/.test(name));
  if (bad !== undefined) throw new RangeError(`not the name of a variable: ${JSON.stringify(bad)}`);
  return encodeEnvironment(Buffer.from(names.map((name) => `${name}\0`).join("")));
}
