import { CONNECTION, type Command } from "./spec.ts";

export const groupSet: Command = {
  id: "group set",
  topic: "Configure",
  brief: "create or change a group of hosts",
  about: [
    "A member that is the name of a group is that group, so groups can be nested; any other member is a host, by its" +
      " full name. Runs with -g GROUP run only on its hosts, and are ended when their host is taken out.",
  ],
  args: [
    { name: "GROUP", help: "name of the group" },
    { name: "MEMBER", isOptional: true, isRest: true, help: "hosts and groups; none empties the group" },
  ],
  settings: CONNECTION,
  examples: [
    ["signalbox group set web web1.example.com web2.example.com", "a group of two hosts"],
    ["signalbox group set all web db", "a group of groups"],
  ],
  load: () => import("./group-set.run.ts"),
};

export const groupList: Command = {
  id: "group list",
  topic: "Configure",
  brief: "list groups and their members",
  flags: [{ name: "json", help: "as JSON" }],
  settings: CONNECTION,
  examples: [["signalbox group list", "all groups"]],
  load: () => import("./group-list.run.ts"),
};
