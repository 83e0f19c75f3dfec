import { problems as found, type Problem, problemId } from "../problems/index.ts";
import { aboutOf } from "./subject.ts";
import { type PictureView, SCENE_ROOMS } from "./view.ts";

export const problems: PictureView<Problem> = {
  ...{
    of: "picture",
    isTimed: true,
    id: "problems",
    brief: "what an operator should look at, each with a remedy",
  },
  rooms: [...SCENE_ROOMS, "locks", "resources", "histories", "schedules", "dues", "runnings", "workers"],
  columns: [
    {
      ...{ id: "level", title: "LEVEL", priority: 1, isMarked: true, text: ({ level }) => level },
      order: ({ level }) => (level === "failure" ? 0 : 1),
      tone: ({ level }) => (level === "failure" ? "problem" : "waiting"),
    },
    { id: "kind", title: "KIND", priority: 3, text: ({ kind }) => kind },
    { id: "subject", title: "SUBJECT", priority: 1, text: ({ subject }) => subject },
    { id: "detail", title: "DETAIL", priority: 1, below: "sentence", text: ({ detail }) => detail },
    { id: "remedy", title: "REMEDY", priority: 2, below: "line", text: ({ remedy }) => remedy },
  ],
  sort: "level",
  key: problemId,
  facets: ({ kind, level, host }) => ({
    states: [kind, level],
    hosts: host === undefined ? [] : [host],
    holders: [],
  }),
  subject: (problem) => ({ kind: "record", name: problemId(problem), ...aboutOf(problem.subject) }),
  json: (problem) => problem,
  news: problemId, // how long it has lasted is none
  rows: (picture, { wall }) => found(picture, wall),
  empty: "Nothing is wrong under this prefix. Whether etcd itself is well: signalbox doctor",
};
