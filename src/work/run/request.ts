import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Random } from "../../base/random.ts";
import type { Store } from "../../etcd/store.ts";
import type { CommandHost, CommandSpec } from "../../process/command.ts";
import type { Keys } from "../../protocol/keys.ts";

/** Units of a resource that a run asks for, macros expanded. */
export interface LeaseWish {
  resource: string;
  /** The name as it was before macros were expanded, where that differs: its configuration serves all hosts. */
  template?: string;
  count: number;
  /** What the command line says there is. */
  total?: number;
}

/** Who claims, as others see it in the ticket. */
export interface Identity {
  host: string;
  pid: number;
  user: string;
  command: string;
  args?: string[];
  label?: string;
}

/** How long a run waits. Durations in ms; `undefined` waits for ever. */
export interface Patience {
  /** Whether to queue for a lock that is held, and to wait for an undrain. */
  queues: boolean;
  /** From the start of the run until its lock (and, without `leases`, everything) must be granted. */
  lock?: number;
  /** From the moment the resource tickets stand in their queues. */
  leases?: number;
}

/** What is claimed, for whom, and for how long it is waited. Durations in ms. */
export interface ClaimRequest {
  lock?: string;
  leases: readonly LeaseWish[];
  group?: string;
  patience: Patience;
  identity: Identity;
  /** Session's time to live in whole seconds. */
  ttl: number;
  terminationTimeout: number;
  /** How long etcd may be out of reach at the start. */
  connectTimeout: number;
  maxHold?: number;
  history: boolean;
  /** Resources that nobody has configured are refused. */
  isKnownOnly?: boolean;
}

/** Everything about one `signalbox run`. Durations in ms. */
export interface RunRequest extends ClaimRequest {
  /** The lock stays taken until this long after the grant. */
  grace?: number;
  /** Wall clock, ms since the epoch: the instant from which `grace` counts instead. */
  graceFrom?: number;
  timeout?: number;
  /** A command that has run or held too long gets KILL with the TERM, and no time to end itself. */
  killsAtLimit?: boolean;
  killLeftovers: boolean;
  busyExitCode: number;
  command: CommandSpec;
  /** USR2 means reopening the log while no command runs. */
  logReopens: boolean;
}

/** What a claim needs of the world. */
export interface ClaimPorts {
  store: Store;
  keys: Keys;
  clock: Clock;
  random: Random;
  log: Log;
  /**
   * Evaluates a total kept in etcd, a number or a macro expression, with this host's macros; undefined where the
   * configuration states none. @throws ConfigError
   */
  evaluateTotal(text: string): number | undefined;
  /**
   * What this host says of itself, for others to see: the same text for some minutes.
   * @param wall  wall clock, ms since the epoch
   */
  describeHost(wall: number): string;
}

/** What a run needs of the world. */
export interface RunPorts extends ClaimPorts {
  commands: CommandHost;
  /** Told when the claim is granted, before the command is started. */
  onGrant?(): void;
  /** Signals sent to this process. Returns how to stop listening. */
  onSignal(listener: (name: NodeJS.Signals) => void): () => void;
}
