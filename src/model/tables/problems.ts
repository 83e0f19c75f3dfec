import { findProblems } from "../problems/find-problems.ts";
import { buildProblemId, type Problem } from "../problems/problem.ts";
import { parseSubject } from "../views/subject.ts";
import { CONTEXT_COLLECTIONS, type SnapshotView } from "../views/view.ts";

export const problemsView: SnapshotView<Problem> = {
  of: "picture",
  isTimed: true,
  id: "problems",
  brief: "what an operator should look at, each with a remedy",
  collections: [
    ...CONTEXT_COLLECTIONS,
    "locks",
    "resources",
    "histories",
    "schedules",
    "dues",
    "runnings",
    "workers",
    "calendars",
  ],
  columns: [
    {
      id: "level",
      title: "LEVEL",
      priority: 1,
      isMarked: true,
      formatCell: ({ level }) => level,
      getSortValue: ({ level }) => (level === "failure" ? 0 : 1),
      getTone: ({ level }) => (level === "failure" ? "problem" : "waiting"),
    },
    { id: "kind", title: "KIND", priority: 3, formatCell: ({ kind }) => kind },
    { id: "subject", title: "SUBJECT", priority: 1, formatCell: ({ subject }) => subject },
    { id: "detail", title: "DETAIL", priority: 1, below: "sentence", formatCell: ({ detail }) => detail },
    { id: "remedy", title: "REMEDY", priority: 2, below: "line", formatCell: ({ remedy }) => remedy },
  ],
  sort: "level",
  getKey: buildProblemId,
  getFacets: ({ kind, level, host }) => ({
    states: [kind, level],
    hosts: host === undefined ? [] : [host],
    holders: [],
  }),
  getSubject: (problem) => ({
    kind: "record",
    name: buildProblemId(problem),
    ...parseSubject(problem.subject),
    ...(problem.action && { remedy: problem.action }),
  }),
  toJson: ({ action: _, ...problem }) => problem,
  getChangeKey: buildProblemId, // a longer duration is not a change
  buildRows: (snapshot, { wall }) => findProblems(snapshot, wall),
  empty: "No problems under this prefix. To check etcd itself: signalbox doctor",
};
