import { ConfigError } from "../../base/errors.ts";
import { askCluster, type ContextSummary, describeContexts } from "../../commands/check/describe-contexts.ts";
import { findOverridingVariables, openConnection } from "../../commands/connect.ts";
import { type Call, CONNECTION_SETTINGS, type CommandIo } from "../../commands/spec.ts";
import type { CommandContext } from "../../commands/store-command.ts";
import type { Tone } from "../../state/subject.ts";

/** Whether the cluster of a context has answered the last request. */
type ContextState = "ok" | "away";

/** A context as the console shows it. */
export interface ListedContext {
  /** Undefined for the settings that the console was started with, if they are of no context. */
  name: string | undefined;
  label: string;
  /** Its addresses, or why it cannot be used. */
  detail: string;
  isActive: boolean;
  isReadOnly: boolean;
  note: string;
  tone: Tone;
}

/** Time between two readings of the configuration files, ms. */
const READ_EVERY = 5_000;

/** The contexts of the configuration, and whether their clusters answer. */
export class ContextList {
  readonly #first: OpenedContext;
  readonly #io: CommandIo;
  readonly #context: CommandContext;
  readonly #probe: ContextProbe;
  #known: { at: number; all: readonly ContextSummary[] } | undefined;
  #shown: { key: string; all: readonly ListedContext[] } | undefined;

  /** @param ports  `first`: as the console was started; `context`: as it is now */
  constructor(
    { first, io, context }: { first: OpenedContext; io: CommandIo; context: CommandContext },
    onChange: () => void,
  ) {
    this.#first = first;
    this.#io = io;
    this.#context = context;
    this.#probe = new ContextProbe(() => this.#listOthers(), context, onChange);
  }

  /** The name of the active context. */
  get activeName(): string | undefined {
    return this.#context.settings.context;
  }

  /** All contexts: the same list as long as nothing changes. Empty if the configuration has none. */
  get all(): readonly ListedContext[] {
    const known = this.#readContexts();
    const all = known.length === 0 ? [] : [...this.#listStart(), ...known.map((one) => this.#describe(one))];
    const key = JSON.stringify(all);
    if (this.#shown?.key !== key) this.#shown = { key, all };
    return this.#shown.all;
  }

  /** Asks the clusters of the other contexts now and then whether they answer, until `end`. */
  begin(): void {
    this.#probe.begin();
  }

  end(): void {
    this.#probe.end();
  }

  /** The entry that leads back, if the console was started with settings of no context. */
  #listStart(): ListedContext[] {
    const { endpoints, readOnly, context } = this.#first.context.settings;
    if (context !== undefined) return [];
    const entry = { name: undefined, label: "(no context)", detail: endpoints.join(",") };
    const isActive = this.activeName === undefined;
    return [{ ...entry, isActive, isReadOnly: readOnly, note: "", tone: "plain" }];
  }

  #describe({ name, config }: ContextSummary): ListedContext {
    const isActive = name === this.activeName;
    const common = { name, label: name, isActive };
    if ("fault" in config)
      return { ...common, detail: config.fault, isReadOnly: false, note: "unusable", tone: "problem" };
    const { endpoints, readOnly } = isActive ? this.#context.settings : config.values;
    const state = isActive ? undefined : this.#probe.getState(name);
    const note = [...(readOnly ? ["ro"] : []), ...(state === undefined ? [] : [state])].join(" ");
    const tone = state === "away" ? "problem" : "plain";
    return { ...common, detail: endpoints.join(","), isReadOnly: readOnly, note, tone };
  }

  #readContexts(): readonly ContextSummary[] {
    const at = this.#context.clock.now();
    if (this.#known !== undefined && at - this.#known.at < READ_EVERY) return this.#known.all;
    this.#known = { at, all: this.#readFiles() };
    return this.#known.all;
  }

  /** A file that was broken while the console runs hides the contexts; the switch tells why. */
  #readFiles(): readonly ContextSummary[] {
    const settings = removeConnectionFlags(this.#first.call.settings);
    try {
      return describeContexts({ settings, env: this.#io.env });
    } catch {
      return this.#known?.all ?? [];
    }
  }

  #listOthers(): ContextSummary[] {
    return this.#readContexts().filter(({ name }) => name !== this.activeName);
  }
}

/** Time between two rounds, ms. */
const PROBE_EVERY = 15_000;

/** Time limit of one request, with its connection, ms. */
const PATIENCE = 3_000;

/** Maximum number of contexts that are asked in a round. */
const MOST = 16;

/**
 * Asks the clusters of other contexts whether they answer: one small read each, one cluster after the other, on a connection of
 * its own that is closed afterwards. Never throws.
 */
class ContextProbe {
  readonly #listOthers: () => readonly ContextSummary[];
  readonly #ports: Pick<CommandContext, "clock" | "random">;
  readonly #onChange: () => void;
  readonly #states = new Map<string, ContextState>();
  readonly #stop = new AbortController();

  constructor(
    listOthers: () => readonly ContextSummary[],
    ports: Pick<CommandContext, "clock" | "random">,
    onChange: () => void,
  ) {
    this.#listOthers = listOthers;
    this.#ports = ports;
    this.#onChange = onChange;
  }

  /** @returns undefined if the cluster was not asked yet */
  getState(name: string): ContextState | undefined {
    return this.#states.get(name);
  }

  begin(): void {
    void this.#run();
  }

  end(): void {
    this.#stop.abort(new Error("the console shows another context"));
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      for (const { name, config } of this.#listOthers().slice(0, MOST)) {
        if (signal.aborted) return;
        if ("fault" in config) continue;
        const state = await this.#ask(config);
        if (this.#states.get(name) !== state) this.#onChange();
        this.#states.set(name, state);
      }
      await this.#ports.clock.sleep(PROBE_EVERY, signal).catch(() => {});
    }
  }

  async #ask(config: Exclude<ContextSummary["config"], { fault: string }>): Promise<ContextState> {
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(PATIENCE)]);
    try {
      await askCluster(config, this.#ports, signal);
      return "ok";
    } catch {
      return "away";
    }
  }
}

/** What the console of one context is built from. */
export interface OpenedContext {
  call: Call;
  context: CommandContext;
}

/**
 * Opens the connection of another context. Contacts no server yet.
 * @param first  as the console was started
 * @param name  undefined for the settings that the console was started with
 * @throws ConfigError, also if a variable overrides how the cluster is reached: another cluster would be shown under this name
 */
export async function openContext(
  first: OpenedContext,
  io: CommandIo,
  name: string | undefined,
): Promise<OpenedContext> {
  const call = name === undefined ? first.call : chooseContext(first.call, name);
  const connection = await openConnection(call, io);
  const [overriding] = name === undefined ? [] : findOverridingVariables(connection.config);
  if (overriding !== undefined) {
    connection.store.close();
    throw new ConfigError(
      `${overriding.key} of the context ${name} has no effect: ${overriding.source} overrides it; start the console without it`,
    );
  }
  const { operator, ...rest } = first.context;
  return {
    call,
    context: { ...rest, ...connection, operator: { ...operator, host: connection.facts.fqdn } },
  };
}

/** Returns the call with another context, without the flags that say how to reach the cluster of the first one. */
function chooseContext(call: Call, name: string): Call {
  return { ...call, settings: { ...removeConnectionFlags(call.settings), context: name } };
}

/** Returns the flags without those that choose a cluster. */
function removeConnectionFlags(settings: Call["settings"]): Call["settings"] {
  const choosing: readonly string[] = [...CONNECTION_SETTINGS, "context"];
  return Object.fromEntries(Object.entries(settings).filter(([key]) => !choosing.includes(key)));
}
