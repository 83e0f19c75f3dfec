import {
  type ContextSummary,
  describeContexts,
  withCluster,
} from "../../cli/commands/check/describe-contexts.ts";
import { type Call, CONNECTION_SETTINGS, type CommandIo } from "../../cli/frame/command.ts";
import { findOverridingVariables, openConnection } from "../../cli/frame/connect.ts";
import type { CommandContext } from "../../cli/frame/store-command.ts";
import { problemsView } from "../../cli/views/problems.ts";
import { type Millis, type MonotonicTime, subtractTime } from "../../core/base/clock.ts";
import { ConfigError } from "../../core/base/errors.ts";
import { collectTexts } from "../../core/base/text.ts";
import type { ObserverPorts } from "../../site/observe/ports.ts";
import { load } from "../../site/observe/read.ts";
import { SnapshotBuilder } from "../../site/state/snapshot-builder.ts";
import type { Tone } from "../../site/state/subject.ts";
import { TabCounter, type TabCounts } from "./tab-counter.ts";

/** Counts of a cluster. For a cluster with very many keys, only the number of keys. */
export interface ClusterCounts extends Pick<TabCounts, "held" | "waiting" | "problems"> {
  keys?: number;
}

/** Whether the cluster of a context has answered the last request, and what is in it. */
interface ClusterState {
  state: "ok" | "away";
  counts?: ClusterCounts;
}

/** A context as the console shows it. */
export interface ListedContext {
  /** Undefined for the settings that the console was started with, if they belong to no context. */
  name: string | undefined;
  label: string;
  /** Its endpoints, or why it cannot be used. */
  detail: string;
  isActive: boolean;
  isReadOnly: boolean;
  note: string;
  tone: Tone;
  /** Set for another cluster that has answered. */
  counts?: ClusterCounts | undefined;
}

/** Time between two readings of the configuration files, ms. */
const READ_EVERY = 5_000;

/** Time between two rounds, ms. */
const PROBE_EVERY = 8_000;

/** Time limits of the first request, with its connection, and of the read of everything after it, ms. */
const TIMEOUTS_MS = { answer: 3_000, read: 5_000 };

/** A cluster with more keys is not read, because only a few counts are needed. */
const MOST_KEYS = 20_000;

/** Maximum number of clusters that are probed in a round. */
const MAX_PROBED_CLUSTERS = 16;

/** The contexts of the configuration, and whether their clusters answer. */
export class ContextList {
  readonly #first: OpenedContext;
  readonly #io: CommandIo;
  readonly #context: CommandContext;
  readonly #onChange: () => void;
  readonly #states = new Map<string, ClusterState>();
  readonly #stop = new AbortController();
  #known: { at: MonotonicTime; all: readonly ContextSummary[] } | undefined;
  #shown: { key: string; all: readonly ListedContext[] } | undefined;

  /** @param ports  `first`: the context with which the console was started; `context`: the current one */
  constructor(
    { first, io, context }: { first: OpenedContext; io: CommandIo; context: CommandContext },
    onChange: () => void,
  ) {
    this.#first = first;
    this.#io = io;
    this.#context = context;
    this.#onChange = onChange;
  }

  get activeName(): string | undefined {
    return this.#context.settings.context;
  }

  /** All contexts: the same array as long as nothing changes. Empty if the configuration has none. */
  get all(): readonly ListedContext[] {
    const known = this.#readContexts();
    const all = known.length === 0 ? [] : [...this.#listStart(), ...known.map((one) => this.#describe(one))];
    const key = JSON.stringify(all);
    if (this.#shown?.key !== key) this.#shown = { key, all };
    return this.#shown.all;
  }

  /** Probes the clusters of the other contexts periodically, until `end`. */
  begin(): void {
    void this.#askOthers();
  }

  end(): void {
    this.#stop.abort(new Error("the console shows another context"));
  }

  /** Returns the entry that leads back, if the console was started with settings of no context. */
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
    const { state, counts } = (isActive ? undefined : this.#states.get(name)) ?? {};
    const note = collectTexts([readOnly && "ro", state]).join(" ");
    const tone = state === "away" ? "problem" : "plain";
    return { ...common, detail: endpoints.join(","), isReadOnly: readOnly, note, tone, counts };
  }

  #readContexts(): readonly ContextSummary[] {
    const at = this.#context.clock.now();
    if (this.#known !== undefined && subtractTime(at, this.#known.at) < READ_EVERY) return this.#known.all;
    this.#known = { at, all: this.#readFiles() };
    return this.#known.all;
  }

  /** Reads the contexts. If a file has become invalid, returns the last ones; switching then reports the fault. */
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

  /**
   * Probes the clusters of other contexts, and counts their objects: one snapshot each, one cluster after the other,
   * each over a separate connection that is closed afterwards. Never throws.
   */
  async #askOthers(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      for (const { name, config } of this.#listOthers().slice(0, MAX_PROBED_CLUSTERS)) {
        if (signal.aborted) return;
        if ("fault" in config) continue;
        const state = await this.#ask(config);
        if (signal.aborted) return; // the answer is too late
        this.#states.set(name, state);
        this.#onChange();
      }
      await this.#context.clock.sleep(PROBE_EVERY, signal).catch(() => {});
    }
  }

  async #ask(config: Exclude<ContextSummary["config"], { fault: string }>): Promise<ClusterState> {
    try {
      return await withCluster(config, this.#context, (cluster) => this.#count(cluster));
    } catch {
      return { state: "away" };
    }
  }

  async #count(cluster: ObserverPorts): Promise<ClusterState> {
    const { store, keys, clock } = cluster;
    const { count } = await store.readRange(
      { ...keys.getFullRange(), countOnly: true },
      this.#limit(TIMEOUTS_MS.answer),
    );
    if (count > MOST_KEYS) return { state: "ok", counts: { keys: count } };
    try {
      const builder = new SnapshotBuilder(keys, problemsView.collections);
      await load(cluster, builder, { signal: this.#limit(TIMEOUTS_MS.read) });
      const counter = new TabCounter(() => clock.now());
      return { state: "ok", counts: counter.countTabs(builder.getSnapshot(), clock.getWallTime()) };
    } catch {
      return { state: "ok" }; // the cluster answers, but not completely in time, or the user may not read everything
    }
  }

  /** Returns a signal that ends a request after a time, or when the list ends. */
  #limit(ms: Millis): AbortSignal {
    return AbortSignal.any([this.#stop.signal, AbortSignal.timeout(ms)]);
  }
}

/** A context with its connection. */
export interface OpenedContext {
  call: Call;
  context: CommandContext;
}

/**
 * Opens the connection of another context. Contacts no server yet.
 * @param first  the context with which the console was started
 * @param name  undefined for the settings that the console was started with
 * @throws ConfigError, also if a variable overrides how the cluster is reached: another cluster would be shown under
 * this name
 */
export async function openContext(
  first: OpenedContext,
  io: CommandIo,
  name: string | undefined,
): Promise<OpenedContext> {
  // Without the flags that choose the cluster of the first context.
  const settings = { ...removeConnectionFlags(first.call.settings), ...(name && { context: name }) };
  const call = name === undefined ? first.call : { ...first.call, settings };
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

/** Returns the flags without those that choose a cluster. */
function removeConnectionFlags(settings: Call["settings"]): Call["settings"] {
  const choosing: readonly string[] = [...CONNECTION_SETTINGS, "context"];
  return Object.fromEntries(Object.entries(settings).filter(([key]) => !choosing.includes(key)));
}
