import { formatInstant } from "../base/duration.ts";
import type { AuditRecord } from "../protocol/audit.ts";
import { parseSubject } from "../state/subject.ts";
import { createNumberColumn, formatAuditAuthor } from "./columns.ts";
import type { SnapshotView } from "./view.ts";

export const auditView: SnapshotView<AuditRecord> = {
  of: "snapshot",
  id: "audit",
  brief: "what operators did: who, what, on which revision, why, with what outcome",
  collections: ["audits"],
  columns: [
    {
      id: "when",
      title: "WHEN",
      priority: 1,
      formatCell: ({ at }) => formatInstant(at),
      getSortValue: ({ id }) => id,
    },
    { id: "who", title: "WHO", priority: 1, formatCell: formatAuditAuthor },
    { id: "action", title: "ACTION", priority: 1, formatCell: ({ action }) => action },
    { id: "target", title: "TARGET", priority: 1, formatCell: ({ target }) => target },
    { id: "outcome", title: "OUTCOME", priority: 2, formatCell: ({ outcome }) => outcome },
    { id: "reason", title: "REASON", priority: 2, formatCell: ({ reason }) => reason ?? "" },
    createNumberColumn("seen", "SEEN", 6, ({ seen }) => seen),
    { id: "id", title: "ID", isRandom: true, priority: 9, formatCell: ({ id }) => id },
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
  toJson: (record) => record,
  buildRows: (snapshot) => [...snapshot.audit.values()],
  empty: "No records of operators yet, or they were pruned. For the commands see: signalbox --help",
};
