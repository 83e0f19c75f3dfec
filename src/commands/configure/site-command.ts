import { isDeepStrictEqual } from "node:util";
import { clean, quoteText } from "../../base/text.ts";
import { evaluateUnits } from "../../fleet/arithmetic.ts";
import { applyConfigChanges, formatConfigChange } from "../../fleet/config-changes.ts";
import type { SiteKind } from "../../fleet/configuration.ts";
import { createMacros } from "../../fleet/macros.ts";
import type { TotalCheck } from "../../fleet/resources.ts";
import { formatCalendarChange } from "../../operate/calendar-changes.ts";
import { readAuditSince, type SiteAction } from "../../operate/operator-action.ts";
import { formatOperator } from "../../operate/ports.ts";
import {
  applySite,
  formatSiteCounts,
  isEmptyPlan,
  listEffects,
  planSite,
  type SiteChanges,
  type SitePlan,
  type SiteTerms,
  type StoredSite,
} from "../../operate/site.ts";
import {
  countSchedules,
  createMissingSchedule,
  readAllStoredSchedules,
  type ScheduleReadResult,
} from "../../operate/stored-schedules.ts";
import { buildConfiguration, buildHostMacros } from "../../state/configuration.ts";
import {
  type ConfigImpact,
  computeConfigImpact,
  formatAffectedCount,
  formatAffectedRuns,
  formatConfigChanges,
} from "../../state/impact.ts";
import type { Collection, Snapshot } from "../../state/snapshot.ts";
import { SnapshotBuilder } from "../../state/snapshot-builder.ts";
import type { ActionFlags } from "../command-line/flags.ts";
import { type ActionOutcome, createOutcome, type SiteResult } from "../outcome.ts";
import { confirmAction } from "../print-outcome.ts";
import { QUEUE_COLLECTIONS, readAtRevision, readSnapshot, readSnapshotRanges } from "../read-snapshot.ts";
import { listMissingGroupNotes } from "../schedule/amendment-command.ts";
import { formatScheduleChange, toScheduleChange } from "../schedule/describe-schedule.ts";
import type { ActionContext, CommandContext } from "../store-command.ts";

export type SiteKinds = ReadonlySet<SiteKind>;

/** The collections of the configuration. */
export const CONFIG_COLLECTIONS: readonly Collection[] = ["groups", "resourceConfigs"];

/** The collections that decide which runs a change of the configuration affects. */
const IMPACT_COLLECTIONS: readonly Collection[] = [...QUEUE_COLLECTIONS, "hosts"];

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

/** What was read of a site. Kinds that were not read are empty. */
export interface SiteRead {
  kinds: SiteKinds;
  /** Has the runs that a change of the configuration affects. */
  snapshot: Snapshot;
  schedules: ScheduleReadResult;
  revision: bigint;
}

/**
 * Reads what a site has of some kinds: no more, because a role may have access to schedules but not to groups.
 * @param at  the revision; undefined for the current one
 */
export async function readSite(context: CommandContext, kinds: SiteKinds, at?: bigint): Promise<SiteRead> {
  const hasConfig = kinds.has("groups") || kinds.has("resources");
  const hasSchedules = kinds.has("calendars") || kinds.has("schedules");
  const read = (collections: Parameters<typeof readSnapshot>[1]) =>
    at === undefined ? readSnapshot(context, collections) : readSnapshotRanges(context, collections, [], at);
  const snapshot = hasConfig
    ? await read(IMPACT_COLLECTIONS)
    : new SnapshotBuilder(context.keys, []).getSnapshot();
  const schedules: ScheduleReadResult = hasSchedules
    ? await readAllStoredSchedules(context, context.signal, at)
    : { revision: snapshot.revision, schedules: new Map(), calendars: new Map() };
  const revision = hasConfig ? snapshot.revision : schedules.revision;
  return { kinds, snapshot, schedules, revision };
}

function toStoredSite({ snapshot, schedules, revision }: SiteRead): StoredSite {
  const { groups, resources } = snapshot;
  return { ...schedules, groups, resources, revision };
}

/** What a command does with a document. */
interface SiteDraft {
  action: SiteAction;
  /** As in the audit: `site`, `group web`. */
  target: string;
  document: SiteChanges;
  kinds: SiteKinds;
  /** `isSingle`: the command asks only if something is deleted, or a run or another schedule is affected. */
  terms: SiteTerms;
  /** The message if there is nothing to change. */
  nothing: string;
  /** Further notes for the operator, one sentence each. */
  notes?: readonly string[];
  /** The site as the user has opened it in an editor. */
  opened?: SiteRead;
}

/** A plan, and what it affects. */
interface PreparedSite {
  read: SiteRead;
  plan: SitePlan;
  impact: ConfigImpact;
  /** How many runs are affected, in words; empty if none is. */
  hits: string;
}

/** Largest number of notes that are printed; further ones are only counted. */
const MANY = 20;

/** Previews what a document changes, asks for confirmation and applies it. */
export class SiteCommand {
  readonly #context: CommandContext<ActionFlags>;
  readonly #draft: SiteDraft;

  constructor(context: CommandContext<ActionFlags>, draft: SiteDraft) {
    this.#context = context;
    this.#draft = draft;
  }

  /** @param read  the site; default: it is read */
  async run(read?: SiteRead): Promise<ActionOutcome<SiteResult>> {
    const { flags } = this.#context;
    const { nothing, kinds, terms } = this.#draft;
    const current = this.#prepare(read ?? (await readSite(this.#context, kinds)));
    const seen = await this.#prepareSeen(current);
    if (seen !== undefined && !isDeepStrictEqual(listEffects(seen.plan), listEffects(current.plan)))
      return await this.#refuse({ ...seen, since: seen.read.revision }, current);
    if (isEmptyPlan(current.plan)) return this.#createOutcome("nothing", current, [nothing]);
    const notes = await this.#listNotes(current);
    const lines = listLines(current, this.#context.clock.getWallTime());
    const counts = terms.isSingle ? [] : [formatSiteCounts(current.plan)];
    if (flags["dry-run"])
      return this.#createOutcome("dry-run", current, [...lines, ...counts], {
        notes,
        messageKeys: [...listLines(current, undefined), ...counts],
        repeat: `--expect-revision ${current.read.revision} --yes`,
      });
    const isAsked = this.#needsConfirmation(current) && !flags.yes;
    if (isAsked && !(await confirmAction(this.#context, lines, this.#buildQuestion(current))))
      return this.#createOutcome("declined", current, ["nothing was changed"], { notes });
    return await this.#apply(current, isAsked ? undefined : lines, notes);
  }

  #needsConfirmation({ plan: { config, calendars, schedules }, impact }: PreparedSite): boolean {
    if (!this.#draft.terms.isSingle) return true;
    const isDeletion = [...config, ...calendars].some(({ after }) => after === undefined);
    return isDeletion || impact.affected.length + schedules.length > 0;
  }

  #buildQuestion({ plan, hits }: PreparedSite): string {
    const { target, terms } = this.#draft;
    const what = terms.isSingle ? clean(target) : formatSiteCounts(plan);
    return `Change ${what}${hits === "" ? "" : `, which ${hits}`}?`;
  }

  #prepare(read: SiteRead): PreparedSite {
    const now = this.#context.clock.getWallTime();
    const plan = planSite(toStoredSite(read), this.#draft.document, this.#draft.terms, now);
    const impact = computeConfigImpact(read.snapshot, plan.config, now);
    return { read, plan, impact, hits: formatAffectedCount(impact.affected) };
  }

  /** Plans for the site as the user has seen it before: in an editor, or in a dry run. */
  async #prepareSeen({ read }: PreparedSite): Promise<PreparedSite | undefined> {
    const { opened } = this.#draft;
    if (opened !== undefined) return this.#prepare(opened);
    const revision = this.#context.flags["expect-revision"];
    if (revision === undefined) return undefined;
    const { kinds } = this.#draft;
    return this.#prepare(
      await readAtRevision(revision, read.revision, () => readSite(this.#context, kinds, revision)),
    );
  }

  /** @param lines  the changes, if the user was not asked */
  async #apply(
    shown: PreparedSite,
    lines: readonly string[] | undefined,
    notes: readonly string[],
  ): Promise<ActionOutcome<SiteResult>> {
    let fresh = shown;
    let left: { plan: SitePlan; since: bigint } = { plan: shown.plan, since: shown.read.revision };
    const { signal } = this.#context;
    try {
      const end = await applySite(this.#context, {
        action: this.#draft.action,
        target: this.#draft.target,
        reason: this.#context.flags.reason,
        shown: shown.plan,
        formatOutcome: (part) => this.#formatOutcome({ ...shown, plan: part }),
        signal,
        replan: async () => {
          fresh = this.#prepare(
            await readSite({ ...this.#context, knownSnapshot: undefined }, this.#draft.kinds),
          );
          return fresh.plan;
        },
        onPart: (rest, since) => {
          left = { plan: rest, since };
          this.#context.printMessage(`a part is applied; left: ${formatSiteCounts(rest)}`);
        },
      });
      if (end.kind === "changed") return await this.#refuse({ ...shown, ...left }, fresh);
      const { revision } = end;
      const told =
        this.#draft.terms.isSingle && lines !== undefined
          ? listChanges(shown)
          : [`done: ${formatSiteCounts(shown.plan)}`];
      const messages = shown.hits === "" ? told : [...told, `this ${shown.hits}`];
      return this.#createOutcome("done", { ...shown, read: { ...shown.read, revision } }, messages, {
        notes,
      });
    } catch (error) {
      if (left.plan !== shown.plan)
        this.#context.printMessage(
          `stopped half-way, not done: ${formatSiteCounts(left.plan)}; run the same command again for the rest`,
        );
      throw error;
    }
  }

  /** Formats what a transaction does, for its audit record. */
  #formatOutcome(part: PreparedSite): string {
    const { plan, hits } = part;
    const { changed } = countSchedules(plan.schedules);
    const moved = changed === 0 ? [] : [`${changed} schedules move`];
    const told = this.#draft.terms.isSingle
      ? [...listChanges({ ...part, plan: { ...plan, schedules: [] } }), ...moved].join("; ")
      : formatSiteCounts(plan);
    return plan.config.length === 0 || hits === "" ? told : `${told}; ${hits}`;
  }

  /**
   * Refuses to do something else than was shown.
   * @param shown  its plan is what was not done, as it was planned; others have changed the site after `since`
   */
  async #refuse(
    shown: PreparedSite & { since: bigint },
    fresh: PreparedSite,
  ): Promise<ActionOutcome<SiteResult>> {
    const { plan, read, since } = shown;
    const hasConfig = plan.config.length + fresh.plan.config.length > 0;
    const lines = [
      ...(hasConfig
        ? formatConfigChanges(read.snapshot, fresh.read.snapshot, this.#createScopeFilter())
        : []),
      ...listMoved(plan, fresh.plan),
      ...(await this.#readAuthors(since)),
    ];
    const undone =
      since > read.revision ? `these were not done: ${formatSiteCounts(plan)}` : "nothing was done";
    const what = this.#draft.terms.isSingle ? "the configuration" : "the site";
    const when = this.#draft.opened === undefined ? "has changed" : "has changed since it was opened";
    const nothing = { ...fresh, plan: { ...fresh.plan, config: [], calendars: [], schedules: [] } };
    return this.#createOutcome("changed", nothing, lines, {
      heading: `${undone}, because ${what} ${when}:`,
    });
  }

  /** Returns a filter for groups and resources that must not have changed. */
  #createScopeFilter(): (kind: string, name: string) => boolean {
    const { terms, target } = this.#draft;
    return (kind, name) => !terms.isSingle || target === `${kind} ${name}`;
  }

  /** Reads from the audit who changed the site since a revision. */
  async #readAuthors(since: bigint): Promise<string[]> {
    const records = await readAuditSince(this.#context, since);
    return records.map(
      (one) => `changed by ${formatOperator(one)}: ${one.action}, ${one.target}: ${one.outcome}`,
    );
  }

  /** Lists and prints the notes. */
  async #listNotes({ plan, impact }: PreparedSite): Promise<string[]> {
    const added = plan.config.flatMap(({ kind, name, after }) => (kind === "group" && after ? [name] : []));
    const missing = await listMissingGroupNotes(this.#context, plan.schedules, new Set(added));
    const notes = [...(this.#draft.notes ?? []), ...impact.notes, ...missing];
    for (const note of notes.slice(0, MANY)) this.#context.printMessage(`note: ${note}`);
    if (notes.length > MANY)
      this.#context.printMessage(`note: and ${notes.length - MANY} more notes; --json prints all`);
    return notes;
  }

  #createOutcome(
    outcome: SiteResult["outcome"],
    { plan, read: { revision }, impact: { affected } }: PreparedSite,
    messages: readonly string[],
    texts: Partial<Pick<ActionOutcome, "notes" | "messageKeys" | "repeat" | "heading">> = {},
  ): ActionOutcome<SiteResult> {
    const { config, calendars, schedules } = plan;
    const { action, target, kinds } = this.#draft;
    const result = {
      kind: "site",
      outcome,
      revision,
      action,
      target,
      config,
      calendars,
      schedules:
        kinds.has("calendars") || kinds.has("schedules") ? schedules.map(toScheduleChange) : undefined,
      affected,
    } as const;
    return createOutcome(this.#context, result, { messages, ...texts });
  }
}

/** Lists what is changed and what that affects, for people. @param wall  as in `formatAffectedRuns` */
function listLines(prepared: PreparedSite, wall: number | undefined): string[] {
  return [...listChanges(prepared), ...formatAffectedRuns(prepared.impact.affected, wall)];
}

function listChanges({ read, plan }: PreparedSite): string[] {
  const { groups } = applyConfigChanges(buildConfiguration(read.snapshot), plan.config);
  return [
    ...plan.config.map((change) => formatConfigChange(change, groups)),
    ...plan.calendars.map(formatCalendarChange),
    ...plan.schedules.map(formatScheduleChange),
  ];
}

/** Lists how calendars and schedules have changed that a plan changes. */
function listMoved(seen: SitePlan, current: SitePlan): string[] {
  const [old, now] = [listEffects(seen), listEffects(current)];
  const moved = [...new Set([...old.keys(), ...now.keys()])].filter(
    (key) => !isDeepStrictEqual(old.get(key), now.get(key)),
  );
  const listNames = (kind: string) =>
    moved.filter((key) => key.startsWith(`${kind} `)).map((key) => key.slice(kind.length + 1));
  return [
    ...listNames("calendar").map((name) => {
      const [before, after] = [seen, current].map(({ stored }) => stored.calendars.get(name));
      return formatCalendarChange({
        name,
        before,
        after: after && ("value" in after ? after.value : { days: [] }),
      });
    }),
    ...listNames("schedule").map((id) => {
      const before = seen.stored.schedules.get(id) ?? createMissingSchedule(id);
      const after = current.stored.schedules.get(id);
      if (after === undefined) return formatScheduleChange({ before, isDeleted: true });
      return formatScheduleChange({ before, ...(after.definition && { definition: after.definition }) });
    }),
  ];
}

/** Changes one group or resource. @param read  with its kind */
export async function changeConfigEntry(
  context: ActionContext,
  read: SiteRead,
  { kind, name, document }: { kind: "group" | "resource"; name: string; document: SiteChanges },
): Promise<ActionOutcome<SiteResult>> {
  const kept = read.snapshot[`${kind}s`].get(name);
  const missing = kind === "group" ? "does not exist" : "is not configured";
  const what = `${kind} ${quoteText(name)}`;
  return await new SiteCommand(context, {
    action: kind,
    target: `${kind} ${name}`,
    document,
    kinds: read.kinds,
    terms: { prunes: false, isSingle: true },
    nothing: `${what} ${kept === undefined ? missing : "is up to date"}: nothing to change`,
    notes: kept?.fault === undefined ? [] : [`${what} could not be read: ${kept.fault}`],
  }).run(read);
}
