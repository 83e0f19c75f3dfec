import { type Drain, formatAuditTarget } from "../../core/protocol/drain.ts";
import type { CalendarChange } from "../../site/operate/calendar-changes.ts";
import { type Claim, type ClaimEntry, findClaimTicket, getEntryState } from "../../site/state/claims.ts";
import { DRAIN_JSON } from "../views/drains.ts";
import {
  type DescribedFields,
  describeChoice,
  describeCount,
  describeField,
  describeFieldsOf,
  describeInstant,
  describeInteger,
  describeObject,
  describePart,
  describeParts,
  describeRevision,
  describeText,
  describeTexts,
  type JsonObject,
} from "../views/json.ts";
import { describeQueueKind } from "../views/runs.ts";
import {
  type ActionOutcome,
  type DecidedResult,
  type DrainResult,
  type EvictionResult,
  type FaultyDocument,
  type FieldChange,
  listOutcomeMessages,
  type PruneResult,
  type RunnerRecord,
  type ScheduleChangeRecord,
  type ScheduleResult,
  type SiteResult,
  type UndrainResult,
} from "./outcome.ts";

/** A run that an action affects, and what is told of that: each action knows some of it. */
interface AffectedRun {
  claim: Claim;
  drains?: readonly Drain[];
  fate?: string;
  exit?: number;
  why?: string;
}

/** Returns what is known of a run: from a ticket, or else from the worker that runs it. */
const getOwner = ({ claim }: AffectedRun) => findClaimTicket(claim) ?? claim.task?.value;

const RUN_JSON = describeObject<AffectedRun>("affectedRun", "A run that an action affects.", {
  run: describeText("id of the run", ({ claim }) => claim.run),
  ...describeFieldsOf(getOwner, {
    "host?": describeText("full name of its host", "host"),
    "pid?": describeInteger("process id of its runner", "pid"),
  }),
  ...describeFieldsOf(({ claim }: AffectedRun) => findClaimTicket(claim), {
    "user?": describeText("user who started it", "user"),
    "command?": describeText("base name of its command", "command"),
    "label?": describeText("label from `--label`", "label"),
  }),
  "schedule?": describeText("id of its schedule", ({ claim: { task, lost } }) => (task ?? lost)?.id),
  tickets: describeParts(
    describeObject<ClaimEntry>("affectedTicket", "A ticket of a run that an action affects.", {
      kind: describeQueueKind(({ queue }) => queue.kind),
      name: describeText("name of the lock or resource", ({ queue }) => queue.name),
      state: describeText("state of the ticket, as in `ls`", ({ entry }) => getEntryState(entry)),
      "units?": describeCount(
        "units; missing if the ticket cannot be read",
        ({ entry }) => entry.ticket?.count,
      ),
      token: describeRevision("`create_revision` of the ticket", ({ entry }) => entry.createRevision),
    }),
    "its tickets; empty for a task of a worker without leases",
    ({ claim }) => claim.entries,
  ),
  "drainedBy?": describeTexts("of `next`: users whose drains still stop it", ({ drains }) =>
    drains?.map(({ by }) => by),
  ),
  "fate?": describeChoice(
    ["stays", "leaves", "depends", "ended"],
    "of `waiters` of a drain and of `hits`: what happens to it. `depends`: it stays with `run --wait`",
    "fate",
  ),
  "exit?": describeInteger("of `hits`: its exit code", "exit"),
  "why?": describeText("of `hits`: why, for people", "why"),
});

/** Describes a field with runs of which nothing else is told. */
function describeRuns<T>(description: string, getClaims: (source: T) => readonly Claim[]) {
  return describeParts<T, AffectedRun>(RUN_JSON, description, (source) =>
    getClaims(source).map((claim) => ({ claim })),
  );
}

const RUNNER_JSON = describeObject<RunnerRecord>("runner", "The state of a runner, by its session.", {
  run: describeText("id of the run", "run"),
  who: describeText("`HOST:PID`", "who"),
  verdict: describeText("`alive`, `quiet`, `gone`, `agent` or `unknown`, as of [show](#show)", "verdict"),
  "left?": describeCount("remaining time of the session, s", "left"),
  "ttl?": describeCount("time to live of the session, s", "ttl"),
});

const FIELD_CHANGE_JSON = describeObject<FieldChange>(
  "fieldChange",
  "A field of a definition that changes.",
  {
    field: describeText("name of the field", "field"),
    "before?": describeText("value before, for people", "before"),
    "after?": describeText("value afterwards, for people", "after"),
  },
);

const SCHEDULE_CHANGE_JSON = describeObject<ScheduleChangeRecord>(
  "scheduleChange",
  "A change of a schedule.",
  {
    id: describeText("id of the schedule", "id"),
    "host?": describeText("host whose state changes, if the schedule runs on every host", "host"),
    kind: describeChoice(
      ["added", "changed", "deleted", "paused", "resumed", "triggered"],
      "kind of change",
      "kind",
    ),
    "fields?": describeParts(
      FIELD_CHANGE_JSON,
      "fields that differ, if the definition is written",
      ({ fields }) => fields,
    ),
    "definition?": describeField(
      { type: "object", description: "definition, if it is written" },
      "definition",
    ),
    "next?": describeField(
      {
        type: ["number", "null"],
        description: "next occurrence, if the state is written; null: none; wall clock, ms since the epoch",
      },
      ({ due }) => due && (due.next ?? null),
    ),
    "runAt?": describeInstant("when it may start", ({ due }) => due?.runAt),
  },
);

/** A change of the configuration, or of a calendar. */
interface ConfiguredChange {
  kind: string;
  name: string;
  before: unknown;
  after: unknown;
}

const CHANGE_JSON = describeObject<ConfiguredChange>(
  "change",
  "A change of a group, a resource or a calendar.",
  {
    kind: describeChoice(["group", "resource", "calendar"], "kind of object", "kind"),
    name: describeText("its name", "name"),
    before: describeField({ description: "value before; null: none" }, ({ before }) => before ?? null),
    after: describeField(
      { description: "value afterwards; null: it is deleted" },
      ({ after }) => after ?? null,
    ),
  },
);

function toConfiguredChange({ name, before, after }: CalendarChange): ConfiguredChange {
  return { kind: "calendar", name, before: before && "value" in before ? before.value : null, after };
}

/** How an action can end, in words. */
const OUTCOMES = {
  done: "",
  nothing: "there was nothing to do",
  "dry-run": "",
  declined: "the user said no",
  changed: "refused, because something has changed",
} as const;

/** Describes the document of an action. @param outcomes  how it can end; explanations may be empty */
function describeResult<R extends DecidedResult>(
  name: string,
  description: string,
  action: string | ((result: R) => string),
  outcomes: Readonly<Record<R["outcome"], string>>,
  fields: DescribedFields<R>,
): JsonObject<ActionOutcome<R>> {
  const told = Object.entries<string>(outcomes).flatMap(([key, text]) =>
    text === "" ? [] : [`\`${key}\`: ${text}`],
  );
  return describeObject(name, description, {
    ...describeFieldsOf(({ result }: ActionOutcome<R>) => result, {
      revision: describeRevision("etcd revision of the data", "revision"),
      action: describeText("action, as in the audit", typeof action === "string" ? () => action : action),
      target: describeText("target, as in the audit", ({ target }) =>
        typeof target === "string" ? target : formatAuditTarget(target),
      ),
      outcome: describeChoice(Object.keys(outcomes), `how it ended. ${told.join("; ")}`, "outcome"),
    }),
    messages: describeTexts<ActionOutcome<R>>("the same as text, for people", listOutcomeMessages),
    notes: describeTexts<ActionOutcome<R>>("warnings, for people", "notes"),
    ...describeFieldsOf(({ result }: ActionOutcome<R>) => result, fields),
  });
}

/** What commands that act print with `--json`, by the kind of their result. */
const DOCUMENTS = {
  eviction: describeResult<EvictionResult>(
    "reset document",
    "What `reset` prints.",
    "reset",
    {
      ...OUTCOMES,
      asked: "the runs were asked to end, and were not waited for",
      timeout: "the wait timed out",
    },
    {
      evicted: describeRuns("runs that end", ({ preview }) => preview.evicted),
      runners: describeParts(RUNNER_JSON, "their runners, if they were read", ({ runners }) => runners),
      freed: describeParts(
        describeObject<EvictionResult["preview"]["freed"][number]>("freedQueue", "What becomes free.", {
          kind: describeQueueKind(({ kind }) => kind),
          name: describeText("name of the lock or resource", "name"),
          units: describeCount("units", "units"),
        }),
        "what becomes free",
        ({ preview }) => preview.freed,
      ),
      next: describeParts(RUN_JSON, "runs that can be granted then", ({ preview }) => preview.next),
    },
  ),
  drain: describeResult<DrainResult>(
    "drain document",
    "What `drain` prints.",
    "drain",
    {
      drained: "",
      replaced: "an earlier drain was replaced",
      standing: "there was nothing to change",
      "dry-run": "",
      declined: OUTCOMES.declined,
      changed: OUTCOMES.changed,
      timeout: "the wait timed out",
      lifted: "the drain ended during the wait",
    },
    {
      "drain?": describePart(DRAIN_JSON, ({ drain }) => drain),
      before: describeParts(DRAIN_JSON, "earlier drains of the same target", ({ before }) => before),
      hosts: describeTexts(
        "hosts of a host or group drain, with those of nested groups",
        ({ extent }) => extent.hosts,
      ),
      holders: describeRuns(
        "runs that hold something, and tasks of workers: before the drain, or at the end of `--wait`",
        ({ holders }) => holders,
      ),
      waiters: describeParts(RUN_JSON, "runs that wait", ({ extent }) => extent.waiters),
    },
  ),
  undrain: describeResult<UndrainResult>(
    "undrain document",
    "What `undrain` prints.",
    "undrain",
    {
      lifted: "",
      nothing: OUTCOMES.nothing,
      "dry-run": "",
      declined: OUTCOMES.declined,
      changed: OUTCOMES.changed,
    },
    {
      drains: describeParts(DRAIN_JSON, "drains that are lifted", ({ drains }) => drains),
      others: describeParts(DRAIN_JSON, "drains that remain", ({ others }) => others),
      waiters: describeRuns("runs that wait", ({ waiters }) => waiters),
    },
  ),
  site: describeResult<SiteResult>(
    "site document",
    "What `apply`, `edit`, `import switchman`, and the commands of groups, resources and calendars print. `diff` prints that of `apply --dry-run`.",
    ({ action }) => action,
    OUTCOMES,
    {
      changes: describeParts(
        CHANGE_JSON,
        "changes of groups, resources and calendars",
        ({ config, calendars }) => [...config, ...calendars.map(toConfiguredChange)],
      ),
      "schedules?": describeParts(
        SCHEDULE_CHANGE_JSON,
        "changes of schedules, if the command can change some",
        ({ schedules }) => schedules,
      ),
      hits: describeParts(RUN_JSON, "runs that the changes affect", ({ affected }) => affected),
    },
  ),
  schedules: describeResult<ScheduleResult>(
    "schedule document",
    "What the commands that change schedules print. `schedule diff crontab` prints that of the import with `--dry-run`.",
    "schedule",
    OUTCOMES,
    { changes: describeParts(SCHEDULE_CHANGE_JSON, "changes of schedules", ({ changes }) => changes) },
  ),
  prune: describeResult<PruneResult>("prune document", "What `prune` prints.", "prune", OUTCOMES, {
    audit: describeCount("number of audit records", "audit"),
    hosts: describeTexts("full names of the hosts", "hosts"),
    vanished: describeTexts("ids of the runs whose tickets have vanished", "vanished"),
    expired: describeCount("number of records that the settings do not keep", "expired"),
  }),
  faulty: describeObject<ActionOutcome<FaultyDocument>>(
    "faulty document",
    "What is printed if a file has faults.",
    {
      outcome: describeField({ const: "faulty", description: "nothing was changed" }, () => "faulty"),
      faults: describeField(
        {
          type: "array",
          items: { type: ["string", "object"] },
          description: "the faults: texts, or `line`, `column` and `what`",
        },
        ({ result }) => result.faults,
      ),
    },
  ),
};

/** For docs/json.md. */
export const OUTCOME_DOCUMENTS: readonly JsonObject<never>[] = Object.values(DOCUMENTS);

/** Builds the JSON document of an outcome. @returns undefined if there is none: the user gave up in the editor */
export function toOutcomeJson(outcome: ActionOutcome): object | undefined {
  const { kind } = outcome.result;
  return kind === "abandoned" ? undefined : DOCUMENTS[kind].toJson(outcome as ActionOutcome<never>);
}
