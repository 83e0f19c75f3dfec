import * as v from "valibot";
import { silentLog } from "../core/base/log.ts";
import { VERSION } from "../core/base/version.ts";
import { resolveConfig } from "../core/config/config.ts";
import type { ConfigLayer } from "../core/config/layers.ts";
import { thisMachine } from "../core/config/machine.ts";
import { scrubEnv } from "../core/config/scrub.ts";
import { getSetting, SETTING_KEYS, type SettingKey, type Settings } from "../core/config/settings.ts";
import { readMemberClocks } from "../core/etcd/member-metrics.ts";
import { openStore } from "../core/etcd/open.ts";
import { StoreError } from "../core/etcd/store.ts";
import { buildStoreOptions } from "../core/etcd/store-options.ts";
import type { MacroLookup } from "../core/fleet/arithmetic.ts";
import { createConditionLookup } from "../core/fleet/conditions.ts";
import { type HostFacts, readHostFacts } from "../core/fleet/host.ts";
import { serializeHostRecord } from "../core/fleet/host-record.ts";
import { createMacros, type Macros } from "../core/fleet/macros.ts";
import { evaluateConfiguredTotal } from "../core/fleet/resources.ts";
import { createRealClock } from "../core/process/clock.ts";
import { createGuardianHost, readUserName } from "../core/process/host.ts";
import { realRandom } from "../core/process/random.ts";
import { createKeys } from "../core/protocol/keys.ts";
import type { ClaimPorts } from "../core/run/request.ts";
import type { HookPermission } from "../schedule/definition-values.ts";
import { canBypassRoles, ROLE_BYPASS, ROLE_BYPASS_REMEDY } from "../site/check/permissions.ts";
import type { OperatorPorts } from "../site/operate/operator-action.ts";
import { getRetentionLimits } from "../site/operate/retention.ts";
import type { ScheduleWorkerOptions } from "../worker/engine/schedule-worker.ts";
import { Hooks } from "../worker/hooks/hooks.ts";
import type { SchedulePorts } from "../worker/worker-ports.ts";
import {
  ClosedError,
  ConfigError,
  EtcdError,
  PermissionError,
  type SignalboxError,
  TooLargeError,
  UnreachableError,
} from "./errors.ts";
import { FLAG, parseOptions } from "./options-schema.ts";
import type { ConnectOptions } from "./types.ts";

type ReadMemberClocks = NonNullable<ScheduleWorkerOptions["readMemberClocks"]>;

/** A part that must be closed before the connection is closed. */
interface Closable {
  close(): Promise<void>;
}

/** Only the names are checked here: the configuration checks the values of all layers. */
const CONNECTION_OPTIONS = {
  ...v.entriesFromList([...SETTING_KEYS, "config", "env", "log"], v.optional(v.unknown())),
  hookCommands: v.optional(FLAG),
};

/**
 * Creates the configuration layer of the options, which overrides all other layers.
 * @throws ConfigError for an unknown option
 */
function createOptionLayer(options: ConnectOptions): ConfigLayer {
  const values: { readonly [K in SettingKey]?: unknown } = parseOptions(
    "connect",
    options,
    CONNECTION_OPTIONS,
  );
  return (key) => {
    const value = values[key];
    if (value === undefined) return undefined;
    const isMillis = getSetting(key).kind.name === "DURATION" && typeof value === "number";
    return {
      value: isMillis ? `${value}ms` : value,
      source: `option ${key}`,
      createError: (fault) => new ConfigError(`option ${key}: ${fault}`),
    };
  };
}

/** The context that all parts of the library share. */
export class LibraryConnection {
  readonly settings: Settings;
  readonly facts: HostFacts;
  readonly macros: Macros;
  /** Measures the host, for conditions of schedules. */
  readonly measure: MacroLookup;
  readonly user: string;
  readonly ports: ClaimPorts & OperatorPorts & SchedulePorts;
  readonly readMemberClocks: ReadMemberClocks;
  /** Which hooks of schedules its workers and sources of tasks call. */
  readonly hookPermission: HookPermission;
  readonly #open = new Set<Closable>();
  #closing: Promise<void> | undefined;

  /** Resolves the configuration. The first call connects to etcd. @throws ConfigError */
  static async open(options: ConnectOptions): Promise<LibraryConnection> {
    const { config, env = process.env, log = silentLog, hookCommands = false } = options;
    const flags = config === undefined ? {} : { config };
    const { values } = resolveConfig({ flags, env, options: createOptionLayer(options) });
    const clock = createRealClock();
    const storeOptions = { ...buildStoreOptions(values), prefersGrpc: true };
    const store = await openStore(storeOptions, { clock, random: realRandom });
    return new LibraryConnection(
      values,
      { clock, store, log },
      {
        hookPermission: hookCommands ? "all" : "addresses",
        readMemberClocks: (signal) => readMemberClocks(storeOptions, clock.getWallTime, signal),
      },
    );
  }

  /** Opens a connection to a store in this process, which has the same clock. Reads no configuration file, calls no hooks. @throws ConfigError */
  static openWith(
    parts: Pick<ClaimPorts, "clock" | "store">,
    { env = {}, log = silentLog, ...options }: ConnectOptions,
  ): LibraryConnection {
    const readFile = () => undefined;
    const { values } = resolveConfig({ env, options: createOptionLayer(options), readFile });
    return new LibraryConnection(
      values,
      { ...parts, log },
      {
        hookPermission: "none",
        readMemberClocks: async () => [{ endpoint: "memory", least: 0, most: 0 }],
      },
    );
  }

  private constructor(
    settings: Settings,
    parts: Pick<ClaimPorts, "clock" | "store" | "log">,
    { hookPermission, readMemberClocks }: Pick<LibraryConnection, "hookPermission" | "readMemberClocks">,
  ) {
    const { host, macros: own, connectTimeout, readOnly, prefix } = settings;
    const facts = readHostFacts(thisMachine, { host, macros: own });
    const macros = createMacros(facts);
    this.settings = settings;
    this.hookPermission = hookPermission;
    this.readMemberClocks = readMemberClocks;
    this.facts = facts;
    this.macros = macros;
    this.measure = createConditionLookup(macros.lookup, thisMachine.readFile);
    this.user = readUserName();
    this.ports = {
      ...parts,
      keys: createKeys(prefix),
      random: realRandom,
      settings: { connectTimeout, readOnly, retention: getRetentionLimits(settings) },
      operator: { user: this.user, host: facts.fqdn },
      evaluateTotal: (text) => evaluateConfiguredTotal(text, macros),
      describeHost: (wall) => serializeHostRecord(facts, VERSION, wall),
    };
  }

  /** Creates what calls the hooks of schedules for one worker or source of tasks. */
  createHooks(): Hooks {
    const { ports, facts, hookPermission: permission } = this;
    const commands = createGuardianHost(ports.clock);
    return new Hooks({ ...ports, commands, host: facts.fqdn, env: scrubEnv(process.env) }, { permission });
  }

  /** @throws ConfigError if every user of etcd could choose the commands that hooks run here; StoreError */
  async checkRoles(signal: AbortSignal): Promise<void> {
    if (this.hookPermission !== "all" || !(await canBypassRoles({ ...this.ports, signal }))) return;
    throw new ConfigError(`${ROLE_BYPASS}; ${ROLE_BYPASS_REMEDY}, or leave out hookCommands`);
  }

  /** @throws ClosedError */
  checkOpen(): void {
    if (this.#closing !== undefined) throw new ClosedError("the connection was closed before");
  }

  /** Registers a part that is closed with the connection, unless it is dropped before. @throws ClosedError */
  adopt(one: Closable): void {
    this.checkOpen();
    this.#open.add(one);
  }

  /**
   * Registers a part that was opened while the connection may have been closed.
   * @param end  ends the part in that case
   * @throws ClosedError
   */
  async adoptOrEnd<T extends Closable>(one: T, end: () => Promise<void>): Promise<T> {
    try {
      this.adopt(one);
      return one;
    } catch (error) {
      await end();
      throw error;
    }
  }

  drop(one: Closable): void {
    this.#open.delete(one);
  }

  /** Closes the registered parts, then the connection. A second call waits for the first. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.allSettled([...this.#open].map((one) => one.close()));
    this.ports.store.close();
  }
}

/** Waits that end when the connection is closed. */
export class ClosableWait {
  readonly #connection: LibraryConnection;
  readonly #closing = new AbortController();
  readonly #why: string;
  #working: Promise<unknown> | undefined;

  /** @throws ClosedError */
  constructor(connection: LibraryConnection, why: string) {
    this.#connection = connection;
    this.#why = why;
    connection.adopt(this);
  }

  /** Does something that ends soon after the signal is aborted. `close` waits for its end. */
  async run<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const working = work(this.signal);
    this.#working = working;
    try {
      return await working;
    } finally {
      this.end();
    }
  }

  /** Aborts with a ClosedError when the connection is closed. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  async close(): Promise<void> {
    this.#closing.abort(new ClosedError(this.#why));
    await this.#working?.catch(() => {});
  }

  end(): void {
    this.#connection.drop(this);
  }
}

/** Runs a call and converts etcd's errors to those of the library. */
export async function translated<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw error instanceof StoreError ? toLibraryError(error) : error;
  }
}

function toLibraryError(cause: StoreError): SignalboxError {
  const { kind, message } = cause;
  switch (kind) {
    case "unavailable":
      return new UnreachableError(`cannot reach etcd: ${message}`, { cause });
    case "otherCluster":
    case "notEtcd":
      return new ConfigError(message, { cause });
    case "tooLarge":
      return new TooLargeError(`the data is larger than etcd accepts: ${message}`, { cause });
    case "noSpace":
      return new UnreachableError(`etcd has no space left and accepts no writes: ${message}`, { cause });
    case "unauthenticated":
      return new PermissionError(`etcd refused the credentials: ${message}`, { cause });
    case "permission":
      return new PermissionError(`etcd refused the permission: ${message}`, { cause });
    default:
      return new EtcdError(`etcd refused a call (${kind}): ${message}`, { cause });
  }
}
