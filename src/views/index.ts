import { auditView } from "./audit.ts";
import { drainsView } from "./drains.ts";
import { membersView, sessionsView, usersView } from "./etcd.ts";
import { groupsView } from "./groups.ts";
import { historyView } from "./history.ts";
import { hostsView } from "./hosts.ts";
import { problemsView } from "./problems.ts";
import { locksView, overviewView, queuesView, resourcesView } from "./queues.ts";
import { runsView } from "./runs.ts";
import { schedulesView } from "./schedules.ts";
import { statisticsView } from "./statistics.ts";
import type { AnyView } from "./view.ts";
import { workersView } from "./workers.ts";

const ALL = {
  overview: overviewView,
  locks: locksView,
  resources: resourcesView,
  queues: queuesView,
  runs: runsView,
  hosts: hostsView,
  groups: groupsView,
  drains: drainsView,
  schedules: schedulesView,
  workers: workersView,
  history: historyView,
  statistics: statisticsView,
  audit: auditView,
  problems: problemsView,
};

export type ViewId = keyof typeof ALL;

/** All views by name, in the order of the help. The rows of a view may only be passed to the same view. */
export const VIEWS: Readonly<Record<ViewId, AnyView<object>>> = ALL;

const OF_ETCD = { members: membersView, sessions: sessionsView, users: usersView };

export type EtcdViewId = keyof typeof OF_ETCD;

/** The views that the console shows: also those of etcd itself. */
export const TABLE_VIEWS: Readonly<Record<ViewId | EtcdViewId, AnyView<object>>> = { ...ALL, ...OF_ETCD };
