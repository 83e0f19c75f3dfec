import type { AnyView } from "../views/view.ts";
import { auditView } from "./audit.ts";
import { drainsView } from "./drains.ts";
import { groupsView } from "./groups.ts";
import { historyView } from "./history.ts";
import { hostsView } from "./hosts.ts";
import { problemsView } from "./problems.ts";
import { locksView, overviewView, resourcesView } from "./queue-views.ts";
import { queuesView } from "./queues.ts";
import { runsView } from "./runs.ts";
import { schedulesView } from "./schedules.ts";
import { workersView } from "./workers.ts";

/** A generic function for views with any row type. */
type ViewVisitor<T> = <R extends object>(view: AnyView<R>) => T;

/** All views by name, in the order of the help. Each entry calls a visitor, which keeps the row type. */
export const VIEWS: Readonly<Record<ViewId, <T>(visit: ViewVisitor<T>) => T>> = {
  overview: (visit) => visit(overviewView),
  locks: (visit) => visit(locksView),
  resources: (visit) => visit(resourcesView),
  queues: (visit) => visit(queuesView),
  runs: (visit) => visit(runsView),
  hosts: (visit) => visit(hostsView),
  groups: (visit) => visit(groupsView),
  drains: (visit) => visit(drainsView),
  schedules: (visit) => visit(schedulesView),
  workers: (visit) => visit(workersView),
  history: (visit) => visit(historyView),
  audit: (visit) => visit(auditView),
  problems: (visit) => visit(problemsView),
};

export type ViewId =
  | "overview"
  | "locks"
  | "resources"
  | "queues"
  | "runs"
  | "hosts"
  | "groups"
  | "drains"
  | "schedules"
  | "workers"
  | "history"
  | "audit"
  | "problems";
