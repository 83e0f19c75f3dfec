import type { Clock, Millis, MonotonicTime, Seconds, WallTime } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Random } from "../base/random.ts";
import type { TraceContext } from "../base/trace.ts";
import type { Session, SessionOwner } from "../etcd/session/session.ts";
import type { Store } from "../etcd/store.ts";
import type { HostConditions } from "../fleet/conditions.ts";
import type { LeaseSpec } from "../fleet/lease-spec.ts";
import type { CommandHost, CommandSpec } from "../process/guarded-command/command.ts";
import type { PastRun } from "../protocol/history.ts";
import type { Keys } from "../protocol/keys.ts";
import type { Ticket } from "../protocol/ticket.ts";
import type { Successors } from "./successors.ts";

/** The owner of a claim, as stored in the ticket. */
export interface ClaimIdentity {
  host: string;
  pid: number;
  user: string;
  command: string;
  args?: string[];
  label?: string;
}

/** Limits for the waiting of a run; `undefined` means no limit. */
export interface WaitLimits {
  /** Whether to queue for a lock that is held, and to wait for an undrain and for conditions. */
  queues: boolean;
  /** Limit for the grant of the locks (without `leases`, of everything), from the start of the run. */
  lock?: Millis;
  /** Limit for the grant of the leases, from the moment their tickets are in the queues. */
  leases?: Millis;
}

/** A claim: its objects, its owner, and its wait limits. */
export interface ClaimRequest {
  /** The locks, each once. All are claimed at the same time. */
  locks: readonly string[];
  /** Shares the locks with other runs that share them. */
  isShared?: boolean;
  leases: readonly LeaseSpec[];
  group?: string;
  /** While these do not hold, the run claims nothing and has no ticket in a queue. */
  conditions?: HostConditions;
  waitLimits: WaitLimits;
  identity: ClaimIdentity;
  /** Time to live of the session. */
  ttl: Seconds;
  terminationTimeout: Millis;
  /** How long etcd may be unavailable at the start. */
  connectTimeout: Millis;
  maxHold?: Millis;
  /** The locks remain taken until this long after the grant. */
  grace?: Millis;
  /** `grace` counts from then instead of from the grant. */
  graceFrom?: WallTime;
  history: boolean;
  /** Refuses resources that are not configured. */
  isKnownOnly?: boolean;
}

/** All inputs of one `signalbox run`. */
export interface RunRequest extends ClaimRequest {
  timeout?: Millis;
  /**
   * How long to wait before each retry of a command that has failed. The claim is held between the attempts. Default: no
   * retry.
   */
  retryWaits?: readonly Millis[];
  /**
   * The signal for a command that has exceeded `timeout` or `maxHold`. Default: TERM, to all of its processes. KILL follows
   * after the termination timeout.
   */
  limitSignal?: NodeJS.Signals;
  /** Exits with the code of a command that has exceeded a limit. */
  preservesStatus?: boolean;
  killLeftovers: boolean;
  busyExitCode: number;
  /** The trace that the caller has passed on. */
  caller?: TraceContext | undefined;
  command: CommandSpec;
  /** USR2 reopens the log while no command runs. */
  logReopens: boolean;
}

/** The session of an attempt, as its claim uses it: its own `Session`, or a share of one that many runs use. */
export interface ClaimSession
  extends Pick<
    Session,
    | "id"
    | "signal"
    | "grantTerm"
    | "horizon"
    | "isDoubted"
    | "ttl"
    | "waitUntilHorizonNear"
    | "stopRenewing"
    | "lose"
  > {
  /** Renews until the session is lost. A later owner replaces an earlier one. */
  keepAlive(owner: SessionOwner): void;
  /**
   * Ends the use of the session by this attempt.
   * @param until  instant until which an unreachable etcd is retried
   * @param keys   keys of the attempt that may still exist; they are removed
   */
  end(until: MonotonicTime, keys: readonly string[]): Promise<void>;
}

/** A session for one attempt, and the store for every transaction of that attempt. */
export interface OpenedSession {
  session: ClaimSession;
  store: Store;
}

/** Opens sessions for attempts. */
export interface SessionSource {
  /**
   * Opens a session for a new attempt.
   * @param until  instant until which an unreachable etcd is retried
   * @throws StoreError, or the signal's reason
   */
  open(user: SessionUser, until: MonotonicTime, signal: AbortSignal): Promise<OpenedSession>;
  /** Opens the session of an attempt that another process began. Returns undefined when that session is gone. */
  resume?(
    user: SessionUser & { session: bigint },
    until: MonotonicTime,
    signal: AbortSignal,
  ): Promise<OpenedSession | undefined>;
}

/** The attempt that needs a session. */
export interface SessionUser {
  run: string;
  /** Time to live, in whole seconds. */
  ttl: Seconds;
}

/** An attempt that is about to claim. Another process needs this to continue it. */
export interface StartedAttempt {
  run: string;
  session: bigint;
  /** Time to live of the session, in whole seconds. */
  ttl: Seconds;
  /** Its number among the attempts of its call, from 1; undefined if they are not numbered. */
  number: number | undefined;
  /** Wall clock, ms since the epoch. */
  enqueuedAt: WallTime;
}

/** An attempt that another process began. */
export type ResumedAttempt = Omit<StartedAttempt, "number">;

/** A retry of a command that has failed. The claim is held until it begins. */
export interface PlannedRetry {
  /** Its number among the starts of the command, from 2. */
  start: number;
  /** When it begins, wall clock, ms since the epoch. */
  at: WallTime;
  /** The exit code of the start before it. */
  code: number;
}

/** The environment of a claim. */
export interface ClaimPorts {
  store: Store;
  keys: Keys;
  clock: Clock;
  random: Random;
  log: Log;
  /**
   * Evaluates a total stored in etcd, a number or a macro expression, with this host's macros. Returns undefined when
   * the configuration contains no total.
   * @throws ConfigError
   */
  evaluateTotal(text: string): number | undefined;
  /**
   * Returns the record of this host. The text remains the same for some minutes. Without this function, runs do not
   * write the record.
   */
  describeHost?(wall: WallTime): string;
  /** Opens the session of each attempt; without it, each attempt has its own. */
  sessions?: SessionSource;
  /** Numbers the attempts of a call that another process may continue. */
  attempts?: CallAttempts;
  /** The waiting runs of a process that has several: a run that ends grants the claim of its successor. */
  successors?: Successors;
  /** The attempt that another process began, to be continued. */
  resumed?: ResumedAttempt;
  /** Called when the run waits for conditions, before its first attempt, so that another process can continue it. */
  onWait?(): Promise<void>;
  /** Called for each attempt. Nothing is claimed before the promise resolves, if there is one. */
  onAttempt?(attempt: StartedAttempt): Promise<void> | undefined;
  /** Stores an entry of a lock's history on this host too. Must not throw. */
  archivePastRun?(lock: string, past: PastRun): void;
}

/** The environment of a run. */
export interface RunPorts extends ClaimPorts {
  commands: CommandHost;
  /** Called when the claim is granted, before the command starts. */
  onGrant?(): void;
  /** Returns the end of the output, if it is kept. Called when the command has ended, before its claim is freed. */
  collectTail?(): Promise<string | undefined>;
  /** Whether the command of the attempt in `resumed` has been started. */
  isStarted?: boolean;
  /** The last retry that another process has planned for `resumed`. If `isStarted`, it is what was started. */
  plannedRetry?: PlannedRetry;
  /** Called before the wait for a retry, so that another process can continue it. */
  onRetry?(retry: PlannedRetry): Promise<void>;
  /** Listens to signals sent to this process. Returns a function that stops listening. */
  onSignal(listener: (name: NodeJS.Signals) => void): () => void;
}

/**
 * Numbers the attempts of one call. A call can pass from one process to another, and an earlier attempt may have been
 * granted although no process received the answer: its tickets then block the later attempts.
 */
export class CallAttempts {
  /** Id of the call. */
  readonly id: string;
  /** The number of the last attempt; 0 before the first. */
  last: number;
  /** When the call began to wait; undefined: it begins now. */
  readonly since: WallTime | undefined;

  /** @param last  number of the attempts that other processes have made */
  constructor(id: string, last: number, since?: WallTime) {
    this.id = id;
    this.last = last;
    this.since = since;
  }

  /** Returns the number of the next attempt. */
  takeNumber(): number {
    this.last += 1;
    return this.last;
  }

  /** Whether a ticket belongs to an attempt of this call before the given one. Its command was never started. */
  isEarlier(ticket: Ticket | undefined, number: number): boolean {
    return ticket?.call === this.id && ticket.attempt !== undefined && ticket.attempt < number;
  }
}
