import { type ContextSummary, describeContexts } from "../../commands/check/context/describe-contexts.ts";
import type { CommandIo } from "../../commands/spec.ts";
import type { CommandContext } from "../../commands/store-command.ts";
import type { Tone } from "../../model/views/view.ts";
import { ContextProbe } from "./context-probe.ts";
import { type OpenedContext, removeConnectionFlags } from "./open-context.ts";

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
const EVERY = 5_000;

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
    if (this.#known !== undefined && at - this.#known.at < EVERY) return this.#known.all;
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
