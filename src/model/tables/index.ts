import { audit } from "./audit.ts";
import { drains } from "./drains.ts";
import { groups } from "./groups.ts";
import { history } from "./history.ts";
import { hosts } from "./hosts.ts";
import { problems } from "./problems.ts";
import { locks, overview, resources } from "./queue-views.ts";
import { queues } from "./queues.ts";
import { runs } from "./runs.ts";
import { schedules } from "./schedules.ts";
import type { AnyView } from "./view.ts";
import { workers } from "./workers.ts";

/** Does something with a view, whatever its rows are. */
export type ViewVisitor<T> = <R extends object>(view: AnyView<R>) => T;

/** Every view by its name, in the order of help. Each is given to a visitor, so that its rows keep their type. */
export const VIEWS: Readonly<Record<ViewId, <T>(visit: ViewVisitor<T>) => T>> = {
  overview: (visit) => visit(overview),
  locks: (visit) => visit(locks),
  resources: (visit) => visit(resources),
  queues: (visit) => visit(queues),
  runs: (visit) => visit(runs),
  hosts: (visit) => visit(hosts),
  groups: (visit) => visit(groups),
  drains: (visit) => visit(drains),
  schedules: (visit) => visit(schedules),
  workers: (visit) => visit(workers),
  history: (visit) => visit(history),
  audit: (visit) => visit(audit),
  problems: (visit) => visit(problems),
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
