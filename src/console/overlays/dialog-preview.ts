import type { Command } from "../../cli/frame/command.ts";
import type { OperationResult } from "../../cli/frame/outcome.ts";
import { formatNextGrants } from "../../cli/views/what-if.ts";
import { type MonotonicTime, mapAtMost, subtractTime, type WallTime } from "../../core/base/clock.ts";
import { formatOperator } from "../../site/operate/operator-action.ts";
import { findPlainTotal } from "../../site/state/eviction-preview.ts";
import type { Snapshot } from "../../site/state/snapshot.ts";
import {
  canPredictGrants,
  computeDrainEffect,
  computeResetEffect,
  computeTotalEffect,
  type DirectEffect,
} from "../../site/state/what-if.ts";
import type { ConsoleApp } from "../console-app.ts";
import { AT_ONCE } from "../data/jobs.ts";
import { isLive } from "../data/live-view.ts";
import { type CommandPreview, runPreview } from "../parts/row-actions.ts";

/** Time between the last change of a form and the request for its preview, ms. */
const FORM_PAUSE_MS = 250;
/** Largest number of items whose next grants are described. Each takes some ms in which no key is handled. */
const MOST_WITH_GRANTS = 8;

/** How long a preview must be on the screen before a key can confirm it, ms. The user cannot have read it sooner. */
const MIN_READING_TIME_MS = 250;

/** Time after which the dialog says that the terminal has not shown the preview yet, ms. */
const LATE_AFTER_MS = 1_000;

/** Minimum age of a preview before it is made again, ms, if something in etcd has changed since. */
const MIN_PREVIEW_AGE_MS = 1_000;

/** A command to preview, with one command line for each item. */
interface PreviewRequest {
  command: Command;
  items: readonly (readonly string[])[];
}

/**
 * Makes the previews of a dialog. Makes them again when the form changes, and when etcd changes while the user reads.
 */
export class DialogPreview {
  readonly #app: ConsoleApp;
  readonly #onRunsChanged: () => void;
  #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #asked = "";
  #request: PreviewRequest | undefined;
  #reading: NodeJS.Timeout | undefined;
  /**
   * Previews that a key cannot confirm yet: the terminal is asked whether it shows them, and then they must stay for a
   * moment. Newer ones are asked about afterwards: on a slow line, a newer one may always come before the answer.
   */
  #pending: { previews: readonly CommandPreview[]; isShown: boolean; screen: number } | undefined;
  /** Since when the terminal has not answered, monotonic; undefined if it has. */
  #unansweredSince: MonotonicTime | undefined;
  /** Previews that were on the screen long enough, and on which one. */
  #read: { previews: readonly CommandPreview[]; screen: number } | undefined;
  /** The snapshot from which the previews were made, and when they were made, monotonic, ms. */
  #made: { of: unknown; at: MonotonicTime } | undefined;
  #isMaking = false;
  /** The previews, one for each item; undefined while they are made. */
  previews: readonly CommandPreview[] | undefined;
  /** The first previews shown for this request. Later previews are compared with them. */
  base: readonly CommandPreview[] | undefined;

  /** @param onRunsChanged  called when the new previews would end other runs than the previews shown before */
  constructor(app: ConsoleApp, onRunsChanged: () => void) {
    this.#app = app;
    this.#onRunsChanged = onRunsChanged;
  }

  /** Whether the user can have read the preview. Otherwise a key was meant for something else. */
  get isRead(): boolean {
    return this.bound !== undefined;
  }

  /** The previews that a key confirms: the last ones that were on the screen long enough. */
  get bound(): readonly CommandPreview[] | undefined {
    const isShown = this.previews !== undefined && this.#read?.screen === this.#app.ports.getScreenNumber();
    return isShown ? this.#read?.previews : undefined;
  }

  /** Whether the terminal takes so long to show the preview that the dialog says so. */
  get isLate(): boolean {
    if (this.#unansweredSince === undefined || this.isRead) return false;
    return subtractTime(this.#app.context.clock.now(), this.#unansweredSince) >= LATE_AFTER_MS;
  }

  /**
   * Call this while the dialog is rendered. The time starts when the terminal shows it: earlier keys were not meant for
   * this preview.
   */
  onShown(): void {
    this.#refresh();
    const { previews } = this;
    if (previews === undefined || previews === this.bound || this.#pending !== undefined) return;
    const pending = { previews, isShown: false, screen: this.#app.ports.getScreenNumber() };
    this.#pending = pending;
    this.#unansweredSince ??= this.#app.context.clock.now();
    const isCurrent = () => this.#pending === pending;
    this.#app.ports.runWhenShown(() => {
      if (!isCurrent()) return;
      pending.isShown = true;
      this.#unansweredSince = undefined;
      // After pending input: if the machine was stopped, keys may have waited longer than the timer.
      const finish = () => setImmediate(() => isCurrent() && this.#finishReading());
      this.#reading = setTimeout(finish, MIN_READING_TIME_MS);
    });
  }

  /** Handles a key that came too early: asks again. Otherwise a key that is held down would eventually confirm. */
  onEarlyKey(): void {
    this.#stopReading();
  }

  /** The user has typed the confirmation, and so has read what the terminal has shown. */
  onConfirmationTyped(): void {
    if (this.#pending?.isShown === true) this.#finishReading();
  }

  #finishReading(): void {
    this.#read = this.#pending;
    this.#stopReading();
    this.#app.notifyChange();
  }

  #stopReading(): void {
    clearTimeout(this.#reading);
    this.#pending = undefined;
  }

  /** Requests previews, unless this request is the current one. */
  request(request: PreviewRequest, pause = FORM_PAUSE_MS): void {
    const asked = JSON.stringify(request.items);
    if (asked === this.#asked) return;
    this.end();
    this.#asked = asked;
    this.#request = request;
    this.#stop = new AbortController();
    this.previews = undefined;
    this.#read = undefined;
    this.#made = undefined;
    this.#timer = setTimeout(() => void this.#runPreviews(request, this.#stop.signal), pause);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#stopReading();
    this.#stop.abort();
  }

  /** Makes the previews again if etcd has changed. The old previews stay visible until the new ones replace them. */
  #refresh(): void {
    const { liveView, context } = this.#app;
    if (this.#made === undefined || this.#request === undefined || this.#isMaking) return;
    if (liveView.snapshot === this.#made.of || !isLive(liveView.connection)) return;
    if (subtractTime(context.clock.now(), this.#made.at) < MIN_PREVIEW_AGE_MS) return;
    void this.#runPreviews(this.#request, this.#stop.signal);
  }

  async #runPreviews({ command, items }: PreviewRequest, signal: AbortSignal): Promise<void> {
    const { snapshot } = this.#app.liveView;
    const describeNext =
      items.length > MOST_WITH_GRANTS
        ? undefined
        : (result: OperationResult) => describeNextGrants(result, this.#app);
    const ports = { signal, describeNext };
    this.#isMaking = true;
    const found = await mapAtMost(items, AT_ONCE, (words) =>
      runPreview(this.#app.jobs, command, words, ports),
    );
    this.#isMaking = false;
    if (signal.aborted) return;
    this.#made = { of: snapshot, at: this.#app.context.clock.now() };
    this.#showPreviews(found);
  }

  #showPreviews(found: readonly CommandPreview[]): void {
    const isOther =
      this.previews?.some(({ affectedRuns }, at) => affectedRuns !== found[at]?.affectedRuns) === true;
    this.previews = found;
    this.base ??= found;
    if (isOther) {
      this.#stopReading();
      this.#read = undefined;
      this.#onRunsChanged();
    }
    this.#app.notifyChange();
  }
}

/**
 * Describes in one line which runs would be granted after what a dry run shows.
 * @returns undefined if the change concerns no queue, if nobody waits, or if the cluster is too large
 */
function describeNextGrants(
  result: OperationResult,
  { liveView: { snapshot }, context }: ConsoleApp,
): string | undefined {
  if (!("outcome" in result) || result.outcome !== "dry-run" || !canPredictGrants(snapshot)) return undefined;
  const wall = context.clock.getWallTime();
  const effect = computeEffect(result, snapshot, { by: formatOperator(context.operator), wall });
  return effect && formatNextGrants(effect, wall);
}

function computeEffect(
  result: OperationResult,
  snapshot: Snapshot,
  { by, wall }: { by: string; wall: WallTime },
): DirectEffect | undefined {
  switch (result.kind) {
    case "eviction":
      return computeResetEffect(snapshot, result.preview.evicted);
    case "drain":
      return computeDrainEffect(snapshot, result.target, { by, wall });
    case "site": {
      const [change, ...others] = result.config;
      if (change?.kind !== "resource" || others.length > 0) return undefined;
      const value = change.after && { value: change.after, modRevision: 0n };
      const total = value && findPlainTotal({ resources: new Map([[change.name, value]]) }, change.name);
      if (total === undefined) return undefined; // an expression: its value differs by host
      return computeTotalEffect(snapshot, { resource: change.name, total }, wall);
    }
    default:
      return undefined;
  }
}
