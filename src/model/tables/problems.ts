import { problems as found, type Problem } from "../problems/index.ts";
import { type PictureView, SCENE_ROOMS } from "./view.ts";

export const problems: PictureView<Problem> = {
  ...{ of: "picture", id: "problems", brief: "what an operator should look at, each with a remedy" },
  rooms: [...SCENE_ROOMS, "locks", "resources", "histories"],
  columns: [
    {
      ...{ id: "level", title: "LEVEL", priority: 1, text: ({ level }) => level },
      order: ({ level }) => (level === "failure" ? 0 : 1),
      tone: () => "problem",
    },
    { id: "kind", title: "KIND", priority: 3, text: ({ kind }) => kind },
    { id: "subject", title: "SUBJECT", priority: 1, text: ({ subject }) => subject },
    { id: "detail", title: "DETAIL", priority: 1, text: ({ detail }) => detail },
    { id: "remedy", title: "REMEDY", priority: 2, text: ({ remedy }) => remedy },
  ],
  sort: "level",
  key: ({ kind, subject, detail }) => `${kind}/${subject}/${detail.replaceAll(/\d+/g, "#")}`,
  facets: ({ kind, subject }) => ({ state: kind, hosts: [], holders: [subject] }),
  json: (problem) => problem,
  rows: (picture, { wall }) => found(picture, wall),
  empty: "Nothing is wrong.",
};
