import type { AuditRecord } from "../../protocol/audit.ts";
import { type Drain, formatAuditTarget } from "../../protocol/drain.ts";
import type { Snapshot, StoredValue } from "../snapshot/snapshot.ts";
import { shortenOwner } from "../tables/cells.ts";
import { parseSubject } from "../views/subject.ts";
import type { EventDraft } from "./event.ts";
import { visitChanges } from "./event.ts";
import { buildDefinitionDraft } from "./schedule-drafts.ts";

/** Builds events for changes of drains, configuration, schedules and hosts, and for audit records. */
export function buildOperatorDrafts(before: Snapshot, after: Snapshot): EventDraft[] {
  const drafts: EventDraft[] = [];
  const effects = new Set<string>();
  const add = (target: string, draft: EventDraft) => {
    effects.add(target);
    drafts.push(draft);
  };
  visitChanges(before.drains, after.drains, (_, was, is) => {
    const drain = is ?? was;
    if (drain !== undefined)
      add(formatAuditTarget(drain), is === undefined ? buildUndrainedDraft(drain) : buildDrainedDraft(is));
  });
  visitChanges(before.resources, after.resources, (name, was, is) => {
    add(
      `resource ${name}`,
      buildConfiguredDraft("resource", name, `${formatStoredTotal(was)} → ${formatStoredTotal(is)}`),
    );
  });
  visitChanges(before.groups, after.groups, (name, was, is) => {
    add(`group ${name}`, buildConfiguredDraft("group", name, formatMemberChange(was, is)));
  });
  visitChanges(before.schedules, after.schedules, (name, was, is) => {
    add(`schedule ${name}`, buildDefinitionDraft(name, was, is));
  });
  visitChanges(before.hosts, after.hosts, (name, was, is) => {
    if (was === undefined || is === undefined) drafts.push(buildHostDraft(name, is === undefined));
  });
  visitChanges(before.audit, after.audit, (_, was, is) => {
    if (is === undefined || was?.outcome === is.outcome) return;
    // The change itself already has an event with more details.
    if (was === undefined && SHOWN.has(is.action) && effects.has(is.target)) return;
    drafts.push(buildAuditDraft(is));
  });
  return drafts;
}

/** Operator actions whose changes have their own events. */
const SHOWN = new Set<AuditRecord["action"]>(["drain", "undrain", "group", "resource", "schedule"]);

function buildDrainedDraft(drain: Drain): EventDraft {
  const { scope, name, by, why, at } = drain;
  return {
    kind: "drained",
    tone: "problem",
    at: at > 0 ? at : undefined,
    subject: { kind: "drain", scope, name },
    host: scope === "host" ? name : undefined,
    formatWords: () => [formatAuditTarget(drain), `by ${by}${why === undefined ? "" : `: ${why}`}`],
  };
}

function buildUndrainedDraft(drain: Drain): EventDraft {
  const { scope, name } = drain;
  return {
    kind: "undrained",
    tone: "free",
    at: undefined,
    host: scope === "host" ? name : undefined,
    subject: scope === "all" ? undefined : { kind: scope, name },
    formatWords: (at) => [
      formatAuditTarget(drain),
      drain.until !== undefined && drain.until <= at ? "its time had passed" : undefined,
    ],
  };
}

function buildConfiguredDraft(kind: "resource" | "group", name: string, what: string): EventDraft {
  const subject = { kind, name };
  return {
    kind: "configured",
    tone: "plain",
    at: undefined,
    subject,
    formatWords: () => [`${kind} ${name}`, what],
  };
}

function formatStoredTotal(kept: StoredValue<{ total?: string }> | undefined): string {
  if (kept === undefined) return "none";
  return kept.fault === undefined ? (kept.value.total ?? "stated by runs") : "malformed";
}

function formatMemberChange(
  was: StoredValue<readonly string[]> | undefined,
  is: StoredValue<readonly string[]> | undefined,
): string {
  if (is === undefined) return "removed";
  if (is.fault !== undefined) return "malformed";
  const [old, now] = [new Set(was?.value), new Set(is.value)];
  const come = [...now].filter((member) => !old.has(member));
  const gone = [...old].filter((member) => !now.has(member));
  const texts = [...formatNames("+", come), ...formatNames("-", gone)];
  return texts.length === 0 ? "the same members" : texts.join(" ");
}

/** Maximum number of names listed. */
const MOST = 3;

function formatNames(sign: "+" | "-", names: readonly string[]): string[] {
  const more = names.length > MOST ? [`${sign}${names.length - MOST} more`] : [];
  return [...names.slice(0, MOST).map((name) => `${sign}${shortenOwner(name)}`), ...more];
}

function buildHostDraft(name: string, isGone: boolean): EventDraft {
  return {
    kind: "host",
    tone: "plain",
    at: undefined,
    host: name,
    subject: { kind: "host", name },
    formatWords: () => [name, isGone ? "forgotten" : "seen for the first time"],
  };
}

function buildAuditDraft(record: AuditRecord): EventDraft {
  const { id, at, user, host, action, target, reason, outcome } = record;
  return {
    kind: "audit",
    tone: "plain",
    at,
    host,
    subject: { kind: "record", name: id, ...parseSubject(target) },
    formatWords: () => [
      `${action} ${target}`,
      `by ${shortenOwner(`${user}@${host}`)}`,
      reason === undefined ? outcome : `${outcome}: ${reason}`,
    ],
  };
}
