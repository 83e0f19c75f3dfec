import { formatInstant } from "../../base/duration.ts";
import type { AuditRecord } from "../../protocol/audit.ts";
import { aboutOf } from "./subject.ts";
import type { PictureView } from "./view.ts";

export const audit: PictureView<AuditRecord> = {
  ...{
    of: "picture",
    id: "audit",
    brief: "what operators did: who, what, on which revision, why, what became of it",
  },
  rooms: ["audits"],
  columns: [
    { id: "when", title: "WHEN", priority: 1, text: ({ at }) => formatInstant(at), order: ({ id }) => id },
    {
      ...{ id: "who", title: "WHO", priority: 1 },
      text: ({ user, sudoUser, host }) =>
        `${sudoUser === undefined ? user : `${sudoUser} as ${user}`}@${host}`,
    },
    { id: "action", title: "ACTION", priority: 1, text: ({ action }) => action },
    { id: "target", title: "TARGET", priority: 1, text: ({ target }) => target },
    { id: "outcome", title: "OUTCOME", priority: 2, text: ({ outcome }) => outcome },
    { id: "reason", title: "REASON", priority: 2, text: ({ reason }) => reason ?? "" },
    {
      ...{ id: "seen", title: "SEEN", priority: 6, align: "right", text: ({ seen }) => String(seen) },
      order: ({ seen }) => seen,
    },
    { id: "id", title: "ID", isRandom: true, priority: 9, text: ({ id }) => id },
  ],
  sort: "-when",
  key: ({ id }) => id,
  facets: ({ action, host, user, sudoUser }) => ({
    ...{ states: [action], hosts: [host], holders: [user, ...(sudoUser === undefined ? [] : [sudoUser])] },
  }),
  subject: ({ id, target }) => ({ kind: "record", name: id, ...aboutOf(target) }),
  json: (record) => record,
  rows: (picture) => [...picture.audit.values()],
  empty: "No operator has done anything yet, or it was pruned. What they can do: signalbox --help",
};
