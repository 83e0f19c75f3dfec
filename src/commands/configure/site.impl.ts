import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { EXIT, SignalboxError, UsageError } from "../../base/errors.ts";
import { quoteText } from "../../base/text.ts";
import { applyConfigChanges, formatConfigChange } from "../../fleet/config-changes.ts";
import { formatCalendarChange } from "../../operate/calendar-mutation.ts";
import { CONFIG_ACTIONS, readAuditSince } from "../../operate/operator-action.ts";
import { formatOperator } from "../../operate/ports.ts";
import {
  applySite,
  type DocumentedGroup,
  type DocumentedResource,
  formatSiteCounts,
  isEmptyPlan,
  listEffects,
  planSite,
  SITE_KINDS,
  type SiteDocument,
  type SiteKind,
  type SitePlan,
  type SiteTerms,
  type StoredSite,
} from "../../operate/site.ts";
import {
  createMissingSchedule,
  readAllStoredSchedules,
  type ScheduleReadResult,
} from "../../operate/stored-schedules.ts";
import { validateName } from "../../protocol/names.ts";
import type { Calendar } from "../../schedule/calendar/calendar.ts";
import type { Definition } from "../../schedule/definition.ts";
import { buildConfiguration, listMalformedConfig } from "../../state/configuration.ts";
import {
  type ConfigImpact,
  computeConfigImpact,
  formatAffectedCount,
  formatAffectedRuns,
  formatConfigChanges,
} from "../../state/impact.ts";
import type { Snapshot } from "../../state/snapshot.ts";
import { SnapshotBuilder } from "../../state/snapshot-builder.ts";
import { extractZnodeJson } from "../../syntax/znode-json.ts";
import type { ActionFlags } from "../command-line/flags.ts";
import { editText, ignoreCtrlC } from "../editor.ts";
import {
  type ActionOutcome,
  createFaultyOutcome,
  createOutcome,
  type OperationResult,
  type SiteResult,
} from "../outcome.ts";
import { confirmAction, createActionCommand, printOutcome } from "../print-outcome.ts";
import { createReadCommand, readAtRevision, readSnapshot, readSnapshotRanges } from "../read-snapshot.ts";
import { listMissingGroupNotes } from "../schedule/amendment-command.ts";
import { formatScheduleCrontab } from "../schedule/crontab.ts";
import { formatScheduleChange, toScheduleChange } from "../schedule/describe-schedule.ts";
import { type ActionContext, type CommandContext, createStoreCommand } from "../store-command.ts";
import { CONFIG_COLLECTIONS, createTotalCheck, IMPACT_COLLECTIONS } from "./config-change.ts";
import { formatFaultLines, readDocumentText, replaceFileText } from "./documents.ts";
import type {
  ApplySiteFlags,
  DiffSiteFlags,
  EditSiteFlags,
  ExportSiteFlags,
  ImportSwitchmanFlags,
} from "./site.ts";
import { formatSiteYaml, parseSiteDocument } from "./site-document.ts";
import { formatSiteJson } from "./site-fields.ts";

export const applySiteFile = createActionCommand(async (context: ActionContext<ApplySiteFlags>) => {
  const [file = "-"] = context.call.args;
  const input = await readSiteFile(context, file, await readDocumentText(context.io, file));
  if ("faults" in input) return input.faults;
  return await new SiteCommand(context, {
    action: "apply",
    ...input,
    terms: readTerms(context.call.flags),
  }).run();
});

export const diffSite = createStoreCommand<DiffSiteFlags>(async (call, io, context) => {
  const [file = "-"] = call.args;
  const input = await readSiteFile({ ...context, call }, file, await readDocumentText(io, file));
  if ("faults" in input) return printOutcome(input.faults, call, io);
  const command = new SiteCommand(
    { ...context, io, call: { ...call, flags: { ...call.flags, "dry-run": true } } },
    { action: "apply", ...input, terms: readTerms(call.flags) },
  );
  const { repeat: _, ...outcome } = await command.run();
  printOutcome(outcome, call, io);
  return outcome.result.outcome === "nothing" ? EXIT.ok : EXIT.undone;
});

export const exportSite = createReadCommand<ExportSiteFlags>(async (call, io, context) => {
  const [file = "-"] = call.args;
  const { format = extname(file) === ".json" ? "json" : "yaml", only } = call.flags;
  const read = await readSite(context, selectKinds(format === "crontab" ? ["schedules"] : only));
  const printNote = (line: string) => context.printMessage(`note: ${line}`);
  for (const line of listUnreadable(read)) printNote(`${line.replace(": ", " and was left out: ")}`);
  const document = toDocument(read);
  const text =
    format === "crontab"
      ? formatScheduleCrontab(document.schedules ?? new Map())
      : formatSite(document, format);
  if (file === "-") io.writeOutput(text);
  else if (isFileText(file, text)) printNote(`${file} is up to date`);
  else replaceFileText(file, text);
});

function formatSite(document: SiteDocument, format: "yaml" | "json"): string {
  return format === "json" ? formatSiteJson(document) : formatSiteYaml(document);
}

function isFileText(file: string, text: string): boolean {
  try {
    return readFileSync(file, "utf8") === text;
  } catch {
    return false;
  }
}

export const editSite = createActionCommand(async (interruptible: ActionContext<EditSiteFlags>) => {
  const { call, io } = interruptible;
  if (!io.terminal.canAsk() && !call.flags.yes)
    throw new UsageError(
      "edit needs a terminal; in a script use export and apply, or set EDITOR to a program and add --yes",
    );
  const context = { ...interruptible, signal: ignoreCtrlC(interruptible.signal) };
  const kinds = selectKinds(call.flags.only);
  const opened = await readSite(context, kinds);
  for (const line of listUnreadable(opened))
    context.printMessage(`note: ${line.replace(": ", "; it is left out and not changed: ")}`);
  return await editText(context, {
    text: formatSiteYaml(toDocument(opened)),
    name: "signalbox.yaml",
    parse: (text, path) => {
      const parsed = parseSiteDocument(path, text, createTotalCheck(context, opened.snapshot));
      return "value" in parsed ? parsed : { faults: formatFaultLines(path, parsed.faults) };
    },
    apply: (document) =>
      new SiteCommand(context, {
        action: "edit",
        kinds,
        document: selectParts(document, kinds),
        terms: { prunes: true, isEdit: true },
        opened,
      }).run(),
    isSettled: ({ result }) => isStored(result),
    describeNextStep: (path) => `to see what it would change now: signalbox diff --prune ${path}`,
  });
});

/** Whether the site is as the user wrote it. */
function isStored(result: OperationResult): boolean {
  return result.kind === "site" && (result.outcome === "done" || result.outcome === "nothing");
}

export const importSwitchmanData = createActionCommand(
  async (context: ActionContext<ImportSwitchmanFlags>) => {
    const { call, io } = context;
    const [file = "-"] = call.args;
    const printed = await readDocumentText(io, file);
    const name = file === "-" ? "stdin" : file;
    if (printed.trim() === "" || printed.trim() === "null")
      throw new SignalboxError(EXIT.config, `${name} is empty: the znode keeps neither groups nor resources`);
    const found = extractZnodeJson(printed);
    const input = await readSiteFile(context, name, found?.text ?? printed);
    const notes = describeSkippedLines(found?.passedOver ?? []);
    if (!("faults" in input)) notes.push(...listShortNameNotes(input.document));
    for (const note of notes) context.printMessage(`${name}: ${note}`);
    if ("faults" in input) return input.faults;
    const terms = { prunes: call.flags.prune === true };
    return await new SiteCommand(context, { action: "import", ...input, terms }).run();
  },
);

function describeSkippedLines(lines: readonly number[]): string[] {
  const shown = lines.slice(0, 8).join(", ");
  if (lines.length === 0) return [];
  const which = `${lines.length === 1 ? "line" : "lines"} ${shown}${lines.length > 8 ? ", ..." : ""}`;
  return [`ignored, not part of the data: ${which}`];
}

/** Lists notes about members that are neither a group in the document nor the full name of a host. */
function listShortNameNotes({ groups = new Map() }: SiteDocument): string[] {
  return [...groups].flatMap(([group, { members }]: readonly [string, DocumentedGroup]) =>
    members
      .filter((member) => !groups.has(member) && !member.includes("."))
      .map(
        (member) =>
          `group ${quoteText(group)}: ${quoteText(member)} is neither a group nor a full host name: only a host whose` +
          " name is exactly this is in the group",
      ),
  );
}

type Kinds = ReadonlySet<SiteKind>;

/** A document, and the kinds that it has. */
interface SiteInput {
  document: SiteDocument;
  kinds: Kinds;
}

/** Flags of commands that take a document. */
type DocumentFlags = Partial<Pick<ApplySiteFlags, "owner" | "adopt" | "prune" | "only">>;

function readTerms({ owner, adopt, prune }: DocumentFlags): SiteTerms {
  if (adopt && owner === undefined) throw new UsageError("--adopt needs --owner: who takes it over?");
  return {
    owner: owner === undefined ? undefined : `site:${validateName("owner", owner)}`,
    adopts: adopt === true,
    prunes: prune === true,
  };
}

function selectKinds(only: readonly string[] | undefined): Kinds {
  return new Set(SITE_KINDS.filter((kind) => only?.includes(kind) ?? true));
}

function selectParts(document: SiteDocument, kinds: Kinds): SiteDocument {
  return Object.fromEntries(Object.entries(document).filter(([kind]) => kinds.has(kind as SiteKind)));
}

/** Reads a document. @returns the outcome if it has faults */
async function readSiteFile(
  context: CommandContext & { call: { flags: DocumentFlags } },
  file: string,
  text: string,
): Promise<SiteInput | { faults: ActionOutcome }> {
  const name = file === "-" ? "standard input" : file;
  let parsed = parseSiteDocument(name, text);
  const hasTotals = !("value" in parsed) || parsed.value.resources !== undefined;
  if (hasTotals) {
    const snapshot = await readSnapshot(context, [...CONFIG_COLLECTIONS, "hosts"]);
    parsed = parseSiteDocument(name, text, createTotalCheck(context, snapshot));
  }
  if (!("value" in parsed)) {
    const { faults } = parsed;
    const messages = [...formatFaultLines(file, faults), "nothing was changed"];
    return { faults: createFaultyOutcome({ revision: undefined, faults }, messages) };
  }
  const document = selectParts(parsed.value, selectKinds(context.call.flags.only));
  return { document, kinds: new Set(SITE_KINDS.filter((kind) => document[kind] !== undefined)) };
}

/** What was read of a site. Kinds that were not read are empty. */
interface SiteRead {
  kinds: Kinds;
  /** Has the runs that a change of the configuration affects. */
  snapshot: Snapshot;
  schedules: ScheduleReadResult;
  revision: bigint;
}

/**
 * Reads what a site has of some kinds: no more, because a role may have access to schedules but not to groups.
 * @param at  the revision; undefined for the current one
 */
async function readSite(context: CommandContext, kinds: Kinds, at?: bigint): Promise<SiteRead> {
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

/** Builds the document of what can be read. */
function toDocument({ kinds, snapshot, schedules }: SiteRead): SiteDocument {
  const configuration = buildConfiguration(snapshot);
  const toGroup = ([name, members]: readonly [string, readonly string[]]) => {
    const source = snapshot.groups.get(name)?.source;
    return [name, { members, ...(source !== undefined && { source }) }] as const;
  };
  const toResource = ([name, config]: readonly [string, DocumentedResource["config"]]) =>
    [name, { isWhole: true, config }] as const;
  const calendars = new Map<string, Calendar>();
  for (const [name, one] of schedules.calendars) if ("value" in one) calendars.set(name, one.value);
  const definitions = new Map<string, Definition>();
  for (const { id, definition } of schedules.schedules.values())
    if (definition !== undefined) definitions.set(id, definition);
  return selectParts(
    {
      groups: new Map([...configuration.groups].map(toGroup)),
      resources: new Map([...configuration.resources].map(toResource)),
      calendars,
      schedules: definitions,
    },
    kinds,
  );
}

/** Lists what cannot be read, one sentence each. */
function listUnreadable({ kinds, snapshot, schedules }: SiteRead): string[] {
  const faults = [
    ...listMalformedConfig(snapshot),
    ...[...schedules.calendars].map(([name, one]) => ({ kind: "calendar", name, ...one })),
    ...[...schedules.schedules.values()].map(({ id, fault }) => ({ kind: "schedule", name: id, fault })),
  ];
  return faults.flatMap(({ kind, name, ...one }) => {
    const fault = "fault" in one ? one.fault : undefined;
    const isShown = fault !== undefined && kinds.has(`${kind}s` as SiteKind);
    return isShown ? [`${kind} ${name} cannot be read: ${fault}`] : [];
  });
}

/** What a command does with a document. */
interface SiteDraft extends SiteInput {
  action: "apply" | "import" | "edit";
  terms: SiteTerms;
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

/** Largest number of changes that are reported one by one afterwards, and of notes; further ones are only counted. */
const MANY = 20;

/** Previews what a document changes, asks for confirmation and applies it. */
class SiteCommand {
  readonly #context: ActionContext<ActionFlags>;
  readonly #draft: SiteDraft;

  constructor(context: ActionContext<ActionFlags>, draft: SiteDraft) {
    this.#context = context;
    this.#draft = draft;
  }

  async run(): Promise<ActionOutcome<SiteResult>> {
    const { flags } = this.#context.call;
    const current = this.#prepare(await readSite(this.#context, this.#draft.kinds));
    const seen = await this.#prepareSeen(current);
    if (seen !== undefined && !isDeepStrictEqual(listEffects(seen.plan), listEffects(current.plan)))
      return await this.#refuse({ ...seen, since: seen.read.revision }, current);
    if (isEmptyPlan(current.plan))
      return this.#createOutcome("nothing", current, ["the site is up to date: nothing to change"]);
    const notes = await this.#listNotes(current);
    const lines = listLines(current, this.#context.clock.getWallTime());
    if (flags["dry-run"])
      return this.#createOutcome("dry-run", current, lines, {
        notes,
        messageKeys: listLines(current, undefined),
        repeat: `--expect-revision ${current.read.revision} --yes`,
      });
    const question = `Change ${formatSiteCounts(current.plan)}${current.hits === "" ? "" : `, which ${current.hits}`}?`;
    if (!flags.yes && !(await confirmAction(this.#context, lines, question)))
      return this.#createOutcome("declined", current, ["nothing was changed"], { notes });
    return await this.#apply(current, notes);
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
    const revision = this.#context.call.flags["expect-revision"];
    if (revision === undefined) return undefined;
    const { kinds } = this.#draft;
    return this.#prepare(
      await readAtRevision(revision, read.revision, () => readSite(this.#context, kinds, revision)),
    );
  }

  async #apply(shown: PreparedSite, notes: readonly string[]): Promise<ActionOutcome<SiteResult>> {
    let fresh = shown;
    let left: { plan: SitePlan; since: bigint } = { plan: shown.plan, since: shown.read.revision };
    const { signal } = this.#context;
    try {
      const end = await applySite(this.#context, {
        action: this.#draft.action,
        reason: this.#context.call.flags.reason,
        shown: shown.plan,
        remark: shown.hits === "" ? "" : `; ${shown.hits}`,
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
      const told = `done: ${formatSiteCounts(shown.plan)}${shown.hits === "" ? "" : `; this ${shown.hits}`}`;
      return this.#createOutcome("done", { ...shown, read: { ...shown.read, revision } }, [told], { notes });
    } catch (error) {
      if (left.plan !== shown.plan)
        this.#context.printMessage(
          `stopped half-way, not done: ${formatSiteCounts(left.plan)}; run the same command again for the rest`,
        );
      throw error;
    }
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
      ...(hasConfig ? formatConfigChanges(read.snapshot, fresh.read.snapshot, () => true) : []),
      ...listMoved(plan, fresh.plan),
      ...(await this.#readAuthors(since)),
    ];
    const undone =
      since > read.revision ? `these were not done: ${formatSiteCounts(plan)}` : "nothing was done";
    const when = this.#draft.opened === undefined ? "has changed" : "has changed since it was opened";
    const nothing = { ...fresh, plan: { ...fresh.plan, config: [], calendars: [], schedules: [] } };
    return this.#createOutcome("changed", nothing, lines, {
      heading: `${undone}, because the site ${when}:`,
    });
  }

  /** Reads from the audit who changed the site since a revision. */
  async #readAuthors(since: bigint): Promise<string[]> {
    const records = await readAuditSince(this.#context, since, SITE_ACTIONS);
    return records.map(
      (one) => `changed by ${formatOperator(one)}: ${one.action}, ${one.target}: ${one.outcome}`,
    );
  }

  /** Lists and prints the notes. */
  async #listNotes({ plan, impact }: PreparedSite): Promise<string[]> {
    const added = plan.config.flatMap(({ kind, name, after }) => (kind === "group" && after ? [name] : []));
    const missing = await listMissingGroupNotes(this.#context, plan.schedules, new Set(added));
    const notes = [...impact.notes, ...missing];
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
    const result = {
      kind: "site",
      outcome,
      revision,
      action: this.#draft.action,
      config,
      calendars,
      schedules: schedules.map(toScheduleChange),
      affected,
    } as const;
    return createOutcome(this.#context.call, result, { messages, ...texts });
  }
}

/** Lists the changes for people. @param wall  as in `formatAffectedRuns` */
function listLines({ read, plan, impact }: PreparedSite, wall: number | undefined): string[] {
  const { groups } = applyConfigChanges(buildConfiguration(read.snapshot), plan.config);
  return [
    ...plan.config.map((change) => formatConfigChange(change, groups)),
    ...plan.calendars.map(formatCalendarChange),
    ...plan.schedules.map(formatScheduleChange),
    ...formatAffectedRuns(impact.affected, wall),
  ];
}

/** Actions that change what a document has. */
const SITE_ACTIONS: ReadonlySet<string> = new Set([...CONFIG_ACTIONS, "schedule", "calendar"]);

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
