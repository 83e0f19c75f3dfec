import { silentLog } from "../base/log.ts";
import { VERSION } from "../base/version.ts";
import { resolveConfig } from "../config/config.ts";
import { thisMachine } from "../config/machine.ts";
import type { Settings } from "../config/settings.ts";
import { openStore } from "../etcd/open.ts";
import { storeOptions } from "../etcd/store-options.ts";
import { type HostFacts, hostFacts } from "../fleet/host.ts";
import { hostText } from "../fleet/host-record.ts";
import { type Macros, macrosOf } from "../fleet/macros.ts";
import { configuredTotal } from "../fleet/resources.ts";
import { realClock } from "../process/clock.ts";
import { realRandom } from "../process/random.ts";
import { userName } from "../process/user.ts";
import { keysUnder } from "../protocol/keys.ts";
import type { OperatorPorts } from "../work/operate/ports.ts";
import type { ClaimPorts } from "../work/run/request.ts";
import { ClosedError } from "./errors.ts";
import { type ConnectOptions, optionLayer } from "./options.ts";

/** What must be ended before the connection is. */
export interface Closable {
  close(): Promise<void>;
}

/** What all parts of the library work with. */
export class Connection {
  readonly settings: Settings;
  readonly facts: HostFacts;
  readonly macros: Macros;
  readonly user: string;
  readonly ports: ClaimPorts & OperatorPorts;
  readonly #open = new Set<Closable>();
  #closing: Promise<void> | undefined;

  /** Settles the configuration; etcd is reached with the first call. @throws ConfigError */
  static async open(options: ConnectOptions): Promise<Connection> {
    const { config, env = process.env, log = silentLog } = options;
    const flags = config === undefined ? {} : { config };
    const { values } = resolveConfig({ flags, env, options: optionLayer(options) });
    const clock = realClock();
    const store = await openStore(storeOptions(values), { clock, unit: realRandom.unit });
    return new Connection(values, { clock, store, log });
  }

  private constructor(settings: Settings, parts: Pick<ClaimPorts, "clock" | "store" | "log">) {
    const { host, macros: own, connectTimeout, readOnly, prefix } = settings;
    const facts = hostFacts(thisMachine, { host, macros: own });
    const macros = macrosOf(facts);
    this.settings = settings;
    this.facts = facts;
    this.macros = macros;
    this.user = userName();
    this.ports = {
      ...parts,
      ...{ keys: keysUnder(prefix), random: realRandom, settings: { connectTimeout, readOnly } },
      operator: { user: this.user, host: facts.fqdn },
      evaluateTotal: (text) => configuredTotal(text, macros),
      describeHost: (wall) => hostText(facts, VERSION, wall),
    };
  }

  /** @throws ClosedError */
  mustBeOpen(): void {
    if (this.#closing !== undefined) throw new ClosedError("the connection was closed before");
  }

  /** Ended when the connection is, unless it is dropped before. @throws ClosedError */
  adopt(one: Closable): void {
    this.mustBeOpen();
    this.#open.add(one);
  }

  drop(one: Closable): void {
    this.#open.delete(one);
  }

  /** Ends what stands on it, then itself; a second call waits for the first. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.allSettled([...this.#open].map((one) => one.close()));
    this.ports.store.close();
  }
}
