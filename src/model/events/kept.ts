import type { AuditRecord } from "../../protocol/audit.ts";
import { type Drain, drainTarget } from "../../protocol/drain.ts";
import type { Kept, Picture } from "../picture.ts";
import { briefWho } from "../tables/cells.ts";
import { aboutOf } from "../tables/subject.ts";
import { eachChange } from "./changes.ts";
import type { Draft } from "./event.ts";
import { definitionDraft } from "./schedules.ts";

/** What happened to that which operators keep, and what they did. */
export function keptDrafts(before: Picture, after: Picture): Draft[] {
  const drafts: Draft[] = [];
  const effects = new Set<string>();
  const add = (target: string, draft: Draft) => {
    effects.add(target);
    drafts.push(draft);
  };
  eachChange(before.drains, after.drains, (_, was, is) => {
    const drain = is ?? was;
    if (drain !== undefined) add(drainTarget(drain), is === undefined ? undrained(drain) : drained(is));
  });
  eachChange(before.resources, after.resources, (name, was, is) => {
    add(`resource ${name}`, configured("resource", name, `${totalIn(was)} → ${totalIn(is)}`));
  });
  eachChange(before.groups, after.groups, (name, was, is) => {
    add(`group ${name}`, configured("group", name, membersText(was, is)));
  });
  eachChange(before.schedules, after.schedules, (name, was, is) => {
    add(`schedule ${name}`, definitionDraft(name, was, is));
  });
  eachChange(before.hosts, after.hosts, (name, was, is) => {
    if (was === undefined || is === undefined) drafts.push(hostDraft(name, is === undefined));
  });
  eachChange(before.audit, after.audit, (_, was, is) => {
    if (is === undefined || was?.outcome === is.outcome) return;
    // What it did is told already, and says more.
    if (was === undefined && SHOWN.has(is.action) && effects.has(is.target)) return;
    drafts.push(auditDraft(is));
  });
  return drafts;
}

/** What operators do that shows by itself. */
const SHOWN = new Set<AuditRecord["action"]>(["drain", "undrain", "group", "resource", "schedule"]);

function drained(drain: Drain): Draft {
  const { scope, name, by, why, at } = drain;
  return {
    ...{ kind: "drained", tone: "problem", at: at > 0 ? at : undefined },
    ...{ subject: { kind: "drain", scope, name }, host: scope === "host" ? name : undefined },
    words: () => [drainTarget(drain), `by ${by}${why === undefined ? "" : `: ${why}`}`],
  };
}

function undrained(drain: Drain): Draft {
  const { scope, name } = drain;
  return {
    ...{ kind: "undrained", tone: "free", at: undefined, host: scope === "host" ? name : undefined },
    subject: scope === "all" ? undefined : { kind: scope, name },
    words: (at) => [
      drainTarget(drain),
      drain.until !== undefined && drain.until <= at ? "its time was over" : undefined,
    ],
  };
}

function configured(kind: "resource" | "group", name: string, what: string): Draft {
  const subject = { kind, name };
  return {
    ...{ kind: "configured", tone: "plain", at: undefined, subject },
    words: () => [`${kind} ${name}`, what],
  };
}

function totalIn(kept: Kept<{ total?: string }> | undefined): string {
  if (kept === undefined) return "none";
  return kept.fault === undefined ? (kept.value.total ?? "stated by runs") : "malformed";
}

function membersText(
  was: Kept<readonly string[]> | undefined,
  is: Kept<readonly string[]> | undefined,
): string {
  if (is === undefined) return "removed";
  if (is.fault !== undefined) return "malformed";
  const [old, now] = [new Set(was?.value), new Set(is.value)];
  const come = [...now].filter((member) => !old.has(member));
  const gone = [...old].filter((member) => !now.has(member));
  const texts = [...some("+", come), ...some("-", gone)];
  return texts.length === 0 ? "the same members" : texts.join(" ");
}

/** Names that are written out. */
const MOST = 3;

function some(sign: "+" | "-", names: readonly string[]): string[] {
  const more = names.length > MOST ? [`${sign}${names.length - MOST} more`] : [];
  return [...names.slice(0, MOST).map((name) => `${sign}${briefWho(name)}`), ...more];
}

function hostDraft(name: string, isGone: boolean): Draft {
  return {
    ...{ kind: "host", tone: "plain", at: undefined, host: name, subject: { kind: "host", name } },
    words: () => [name, isGone ? "forgotten" : "seen for the first time"],
  };
}

function auditDraft(record: AuditRecord): Draft {
  const { id, at, user, host, action, target, reason, outcome } = record;
  return {
    ...{ kind: "audit", tone: "plain", at, host, subject: { kind: "record", name: id, ...aboutOf(target) } },
    words: () => [
      ...[`${action} ${target}`, `by ${briefWho(`${user}@${host}`)}`],
      ...[reason === undefined ? outcome : `${outcome}: ${reason}`],
    ],
  };
}
