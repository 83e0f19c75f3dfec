import { clean, quoteText } from "../../base/text.ts";
import { evaluateUnits } from "../../fleet/arithmetic.ts";
import { applyConfigChanges, type ConfigChange, formatConfigChange } from "../../fleet/config-changes.ts";
import { createMacros } from "../../fleet/macros.ts";
import type { TotalCheck } from "../../fleet/resources.ts";
import { applyConfigUpdate, type ConfigKeyRevision, type ConfigUpdate } from "../../operate/configure.ts";
import { CONFIG_ACTIONS, readAuditSince } from "../../operate/operator-action.ts";
import { formatOperator } from "../../operate/ports.ts";
import { buildConfiguration, buildHostMacros } from "../../state/configuration.ts";
import {
  type ConfigImpact,
  computeConfigImpact,
  formatAffectedCount,
  formatAffectedRuns,
  formatConfigChanges,
} from "../../state/impact.ts";
import type { Collection, Snapshot } from "../../state/snapshot.ts";
import { type ActionOutcome, type ConfigResult, createOutcome } from "../outcome.ts";
import { confirmAction } from "../print-outcome.ts";
import { QUEUE_COLLECTIONS, readSnapshot, readSnapshotAt } from "../read-snapshot.ts";
import type { ActionContext, CommandContext } from "../store-command.ts";

/** The collections of the configuration. */
export const CONFIG_COLLECTIONS: readonly Collection[] = ["groups", "resourceConfigs"];

/** The collections that decide which runs a configuration change affects. */
export const IMPACT_COLLECTIONS: readonly Collection[] = [...QUEUE_COLLECTIONS, "hosts"];

/** Lists all configuration keys in a snapshot with their revisions, including malformed ones. */
function listSeenKeys({ groups, resources }: Pick<Snapshot, "groups" | "resources">): ConfigKeyRevision[] {
  const toSeenKeys = (
    kind: ConfigKeyRevision["kind"],
    kept: ReadonlyMap<string, { modRevision: bigint; source?: string }>,
  ) => [...kept].map(([name, { modRevision, source }]) => ({ kind, name, modRevision, source }));
  return [...toSeenKeys("group", groups), ...toSeenKeys("resource", resources)];
}

/**
 * Creates a check that a total can be evaluated on this host, or on any known host, since other hosts have their own
 * macros. A total that is unchanged in etcd is not checked.
 */
export function createTotalCheck({ facts }: Pick<CommandContext, "facts">, snapshot: Snapshot): TotalCheck {
  return (resource, total) => {
    if (snapshot.resources.get(resource)?.value?.total === total.trim()) return undefined;
    const here = evaluateUnits(total, createMacros(facts).lookup);
    if (!("fault" in here)) return undefined;
    const isFineSomewhere = [...snapshot.hosts].some(
      ([fqdn, record]) => !("fault" in evaluateUnits(total, buildHostMacros(fqdn, record).lookup)),
    );
    return isFineSomewhere ? undefined : here.fault;
  };
}

/** Changes of the configuration, and the snapshot that they are based on. */
interface ConfigDraft {
  action: ConfigUpdate["action"];
  /** As in the audit: `group web`. */
  target: string;
  snapshot: Snapshot;
  changes: readonly ConfigChange[];
  /** The message if there is nothing to change. */
  nothing: string;
  /** Further notes for the operator, one sentence each. */
  notes?: readonly string[];
}

/** Largest number of notes that are printed; further ones are only counted. */
const MANY = 10;
/** How often the write is tried if others write, but not to the configuration. */
const TRIES = 5;

/**
 * Previews a change of a group or a resource, asks for confirmation if they affect a run or delete something, and applies
 * them.
 */
class ConfigChangeCommand {
  readonly #context: ActionContext;
  readonly #draft: ConfigDraft;
  readonly #impact: ConfigImpact;
  /** How many runs are affected, in words; empty if none is. */
  readonly #hits: string;
  readonly #reason: string | undefined;

  constructor(context: ActionContext, draft: ConfigDraft) {
    this.#context = context;
    this.#draft = draft;
    this.#reason = context.call.flags.reason;
    this.#impact = computeConfigImpact(draft.snapshot, draft.changes, context.clock.getWallTime());
    this.#hits = formatAffectedCount(this.#impact.affected);
  }

  async run(): Promise<ActionOutcome<ConfigResult>> {
    const { changes, nothing } = this.#draft;
    const moved = await this.#describeChangesSince();
    if (moved.length > 0) return this.#createOutcome("changed", moved);
    if (changes.length === 0) return this.#createOutcome("nothing", [nothing]);
    this.#printNotes();
    const lines = this.#buildPreview(this.#context.clock.getWallTime());
    if (this.#context.call.flags["dry-run"])
      return this.#createOutcome("dry-run", lines, {
        messageKeys: this.#buildPreview(undefined),
        repeat: `--expect-revision ${this.#draft.snapshot.revision} --yes`,
      });
    const isAsked = this.#needsConfirmation() && !this.#context.call.flags.yes;
    if (isAsked && !(await confirmAction(this.#context, lines, this.#buildQuestion())))
      return this.#createOutcome("declined", ["nothing was changed"]);
    return await this.#apply(isAsked);
  }

  async #apply(wasShown: boolean): Promise<ActionOutcome<ConfigResult>> {
    let { snapshot } = this.#draft;
    for (let left = TRIES; ; left -= 1) {
      const receipt = await applyConfigUpdate(this.#context, this.#buildRequest(snapshot));
      if (receipt.kind === "done")
        return this.#createOutcome("done", this.#describeResult(wasShown), { revision: receipt.revision });
      const now = await readSnapshot(this.#context, CONFIG_COLLECTIONS);
      const moved = formatConfigChanges(snapshot, now, this.#createScopeFilter());
      if (moved.length > 0)
        return this.#createOutcome("changed", [...moved, ...(await this.#readAuthors(snapshot.revision))]);
      if (left <= 1)
        return this.#createOutcome("changed", ["other operators keep changing the configuration; try again"]);
      snapshot = now; // another operator changed something else
    }
  }

  #buildRequest(snapshot: Snapshot): ConfigUpdate {
    const { action, target, changes } = this.#draft;
    return {
      action,
      target,
      changes,
      seen: snapshot.revision,
      keys: listSeenKeys(snapshot),
      reason: this.#reason,
      outcome: `${this.#buildSummary()}${this.#hits === "" ? "" : `; ${this.#hits}`}`,
    };
  }

  /** Formats the changes for the audit record. */
  #buildSummary(): string {
    return this.#draft.changes.map((change) => this.#formatChange(change)).join(", ");
  }

  async #describeChangesSince(): Promise<string[]> {
    const expected = this.#context.call.flags["expect-revision"];
    if (expected === undefined) return [];
    const { snapshot } = this.#draft;
    const then = await readSnapshotAt(this.#context, CONFIG_COLLECTIONS, expected, snapshot);
    const moved = formatConfigChanges(then, snapshot, this.#createScopeFilter());
    return moved.length === 0 ? [] : [...moved, ...(await this.#readAuthors(expected))];
  }

  /** Returns a filter for what must not have changed: the objects of the changes. */
  #createScopeFilter(): (kind: ConfigChange["kind"], name: string) => boolean {
    const { changes, target } = this.#draft;
    const touched = new Set([target, ...changes.map(({ kind, name }) => `${kind} ${name}`)]);
    return (kind, name) => touched.has(`${kind} ${name}`);
  }

  /** Reads from the audit who changed the configuration since a revision. */
  async #readAuthors(since: bigint): Promise<string[]> {
    const records = await readAuditSince(this.#context, since, CONFIG_ACTIONS);
    return records.map(
      (one) => `changed by ${formatOperator(one)}: ${one.action}, ${one.target}: ${one.outcome}`,
    );
  }

  #needsConfirmation(): boolean {
    const { changes } = this.#draft;
    return this.#impact.affected.length > 0 || changes.some(({ after }) => after === undefined);
  }

  /** @param wall  as in `formatAffectedRuns` */
  #buildPreview(wall: number | undefined): string[] {
    const { changes } = this.#draft;
    const lines = changes.map((change) => this.#formatChange(change));
    return [...lines, ...formatAffectedRuns(this.#impact.affected, wall)];
  }

  #describeResult(wasShown: boolean): string[] {
    const { changes } = this.#draft;
    const told = wasShown ? ["done"] : changes.map((change) => this.#formatChange(change));
    return this.#hits === "" ? told : [...told, `this ${this.#hits}`];
  }

  #formatChange(change: ConfigChange): string {
    const { snapshot, changes } = this.#draft;
    return formatConfigChange(change, applyConfigChanges(buildConfiguration(snapshot), changes).groups);
  }

  #buildQuestion(): string {
    return `Change ${clean(this.#draft.target)}${this.#hits === "" ? "" : `, which ${this.#hits}`}?`;
  }

  #printNotes(): void {
    const notes = this.#listNotes();
    for (const note of notes.slice(0, MANY)) this.#context.printMessage(`note: ${note}`);
    if (notes.length > MANY)
      this.#context.printMessage(`note: and ${notes.length - MANY} more notes; --json prints all`);
  }

  #listNotes(): string[] {
    return [...(this.#draft.notes ?? []), ...this.#impact.notes];
  }

  #createOutcome(
    outcome: ConfigResult["outcome"],
    messages: readonly string[],
    more: Pick<ActionOutcome, "messageKeys" | "repeat"> & { revision?: bigint } = {},
  ): ActionOutcome<ConfigResult> {
    const { action, target, changes } = this.#draft;
    const { affected } = this.#impact;
    const { revision = this.#draft.snapshot.revision, ...texts } = more;
    return createOutcome(
      this.#context.call,
      { kind: "configuration", outcome, revision, action, target, changes, affected },
      { messages, notes: this.#listNotes(), ...texts },
    );
  }
}

/** Changes one group or resource. */
export async function changeConfigEntry(
  context: ActionContext,
  { kind, name, snapshot }: Pick<ConfigChange, "kind" | "name"> & { snapshot: Snapshot },
  changes: readonly ConfigChange[],
): Promise<ActionOutcome<ConfigResult>> {
  const kept = (kind === "group" ? snapshot.groups : snapshot.resources).get(name);
  const missing = kind === "group" ? "does not exist" : "is not configured";
  const what = `${kind} ${quoteText(name)}`;
  return await new ConfigChangeCommand(context, {
    action: kind,
    target: `${kind} ${name}`,
    snapshot,
    changes,
    nothing: `${what} ${kept === undefined ? missing : "is up to date"}: nothing to change`,
    notes: kept?.fault === undefined ? [] : [`${what} could not be read: ${kept.fault}`],
  }).run();
}
