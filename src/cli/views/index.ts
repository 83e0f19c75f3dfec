import { auditView } from "./audit.ts";
import { drainsView } from "./drains.ts";
import { MEMBER_COLUMNS, MEMBER_JSON, type MemberRow } from "./etcd-members.ts";
import { SESSION_COLUMNS, SESSION_JSON, type SessionRow } from "./etcd-sessions.ts";
import { USER_JSON, USER_ROW_COLUMNS, type UserRow } from "./etcd-users.ts";
import { groupsView } from "./groups.ts";
import { historyView } from "./history.ts";
import { hostsView } from "./hosts.ts";
import { jobsView } from "./jobs.ts";
import { macrosView } from "./macros.ts";
import { problemsView } from "./problems.ts";
import { locksView, overviewView, queuesView, resourcesView } from "./queues.ts";
import { runsView } from "./runs.ts";
import { schedulesView } from "./schedules.ts";
import { statisticsView } from "./statistics.ts";
import type { AnyView, SnapshotView } from "./view.ts";
import { workersView } from "./workers.ts";

const ALL = {
  overview: overviewView,
  locks: locksView,
  resources: resourcesView,
  macros: macrosView,
  queues: queuesView,
  runs: runsView,
  hosts: hostsView,
  groups: groupsView,
  drains: drainsView,
  schedules: schedulesView,
  jobs: jobsView,
  workers: workersView,
  history: historyView,
  statistics: statisticsView,
  audit: auditView,
  problems: problemsView,
};

export type ViewId = keyof typeof ALL;

/** All views by name, in the order of the help. The rows of a view may only be passed to the same view. */
export const VIEWS: Readonly<Record<ViewId, AnyView<object>>> = ALL;

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

const membersView = createEtcdView<MemberRow>({
  id: "members",
  columns: MEMBER_COLUMNS,
  sort: "state",
  json: MEMBER_JSON,
  getKey: ({ member, endpoint }) => member?.name || endpoint,
  getFacets: ({ state, alarms }) => ({ states: [state, ...alarms], hosts: [], holders: [] }),
});

const sessionsView = createEtcdView<SessionRow>({
  id: "sessions",
  columns: SESSION_COLUMNS,
  sort: "left",
  json: SESSION_JSON,
  getKey: ({ id }) => id.toString(16),
  getFacets: ({ kind, host }) => ({ states: [kind], hosts: host === undefined ? [] : [host], holders: [] }),
  getSubject: ({ id, keys }) => ({ kind: "record", name: id.toString(16), keys }),
});

const usersView = createEtcdView<UserRow>({
  id: "users",
  columns: USER_ROW_COLUMNS,
  sort: "user",
  json: USER_JSON,
  getKey: ({ name }) => name,
  getFacets: ({ roles }) => ({ states: [], hosts: [], holders: [], tags: roles }),
});

const OF_ETCD = { members: membersView, sessions: sessionsView, users: usersView };

export type EtcdViewId = keyof typeof OF_ETCD;

/** The views that the console shows: also those of etcd itself. */
export const TABLE_VIEWS: Readonly<Record<ViewId | EtcdViewId, AnyView<object>>> = { ...ALL, ...OF_ETCD };
