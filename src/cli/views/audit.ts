import { formatInstant } from "../../core/base/clock.ts";
import { AUDIT_ACTIONS, type AuditRecord } from "../../core/protocol/audit.ts";
import { parseSubject } from "../../site/state/subject.ts";
import { createNumberColumn, createOwnerColumn, createTextColumn, formatAuditAuthor } from "./columns.ts";
import { describeChoice, describeInstant, describeObject, describeRevision, describeText } from "./json.ts";
import type { SnapshotView } from "./view.ts";

export const auditView: SnapshotView<AuditRecord> = {
  of: "snapshot",
  isNewestFirst: true,
  id: "audit",
  brief: "what operators did: who, what, on which revision, why, with what outcome",
  collections: ["audits"],
  columns: [
    createTextColumn("when", 1, ({ at }) => formatInstant(at), { getSortValue: ({ id }) => id }),
    createOwnerColumn("who", 1, formatAuditAuthor),
    createTextColumn("action", 1, ({ action }) => action),
    createTextColumn("target", 1, ({ target }) => target),
    createTextColumn("outcome", 2, ({ outcome }) => outcome),
    createTextColumn("reason", 2, ({ reason }) => reason),
    createNumberColumn("seen", 6, ({ seen }) => seen),
    createTextColumn("id", 9, ({ id }) => id, { isRandom: true }),
  ],
  sort: "-when",
  getKey: ({ id }) => id,
  getFacets: ({ action, host, user, sudoUser }) => ({
    states: [action],
    hosts: [host],
    holders: [user, ...(sudoUser === undefined ? [] : [sudoUser])],
  }),
  getSubject: ({ id, target }) => ({ kind: "record", name: id, ...parseSubject(target) }),
  getInstant: ({ at }) => at,
  json: describeObject("auditRecord", "An action of an operator.", {
    id: describeText("id of the record; ids sort by time", "id"),
    at: describeInstant("time of the action", "at"),
    user: describeText("user who acted", "user"),
    host: describeText("host on which the user acted", "host"),
    "sudoUser?": describeText("user who called sudo to become `user`", "sudoUser"),
    action: describeChoice(AUDIT_ACTIONS, "action", "action"),
    target: describeText(
      "target of the action, such as `lock invoices`, `host web1.example.com` or `all`",
      "target",
    ),
    seen: describeRevision("etcd revision of the data that the operator saw", "seen"),
    "reason?": describeText("reason from the operator", "reason"),
    outcome: describeText("outcome, as text for people", "outcome"),
  }),
  buildRows: (snapshot) => [...snapshot.audit.values()],
  empty: "No records of operators yet, or they were pruned. For the commands see: signalbox --help",
};
