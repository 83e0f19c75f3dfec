import { MEMBER_COLUMNS, MEMBER_JSON, type MemberRow } from "./etcd-members.ts";
import { SESSION_COLUMNS, SESSION_JSON, type SessionRow } from "./etcd-sessions.ts";
import { USER_JSON, USER_ROW_COLUMNS, type UserRow } from "./etcd-users.ts";
import type { SnapshotView } from "./view.ts";

/** Creates a view of etcd itself. Its rows are in no snapshot: the console reads them. */
function createEtcdView<R>(
  view: Pick<SnapshotView<R>, "id" | "columns" | "sort" | "json" | "getKey" | "getFacets"> &
    Partial<SnapshotView<R>>,
): SnapshotView<R> {
  return {
    of: "snapshot",
    brief: `${view.id} of etcd`,
    collections: [],
    getSubject: (row) => ({ kind: "record", name: view.getKey(row) }),
    buildRows: () => [],
    empty: "",
    ...view,
  };
}

export const membersView = createEtcdView<MemberRow>({
  id: "members",
  columns: MEMBER_COLUMNS,
  sort: "state",
  json: MEMBER_JSON,
  getKey: ({ member, endpoint }) => member?.name || endpoint,
  getFacets: ({ state, alarms }) => ({ states: [state, ...alarms], hosts: [], holders: [] }),
});

export const sessionsView = createEtcdView<SessionRow>({
  id: "sessions",
  columns: SESSION_COLUMNS,
  sort: "left",
  json: SESSION_JSON,
  getKey: ({ id }) => id.toString(16),
  getFacets: ({ kind, host }) => ({ states: [kind], hosts: host === undefined ? [] : [host], holders: [] }),
  getSubject: ({ id, keys }) => ({ kind: "record", name: id.toString(16), keys }),
});

export const usersView = createEtcdView<UserRow>({
  id: "users",
  columns: USER_ROW_COLUMNS,
  sort: "user",
  json: USER_JSON,
  getKey: ({ name }) => name,
  getFacets: ({ roles }) => ({ states: [], hosts: [], holders: [], tags: roles }),
});
