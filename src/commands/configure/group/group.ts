import { ACTION_FLAGS } from "../../command-line/flags.ts";
import { type Argument, CONNECTION_SETTINGS, type Command } from "../../spec.ts";

const GROUP: Argument = { name: "GROUP", names: "group", help: "name of the group" };
const MEMBER: Argument = { name: "MEMBER", names: ["host", "group"], isRest: true, help: "hosts and groups" };

const GUARDED =
  "What changes is shown. Where it ends a running command (its host leaves the group of its -g), throws a run out of its" +
  " queues, or deletes, it asks first; scripts say --yes. If somebody else changes the group meanwhile, nothing is done" +
  " (exit 75), and it says what has changed. Setting what is so already does nothing.";

export const groupSet: Command = {
  id: "group set",
  topic: "Configure",
  brief: "create or change a group of hosts",
  about: [
    "A member that is the name of a group is that group, so groups can be nested; any other member is a host, by its" +
      " full name. Runs with -g GROUP run only on its hosts, and are ended when their host is taken out.",
    GUARDED,
  ],
  args: [GROUP, { ...MEMBER, isOptional: true, help: "hosts and groups; none empties the group" }],
  flags: ACTION_FLAGS,
  settings: CONNECTION_SETTINGS,
  examples: [
    ["signalbox group set web web1.example.com web2.example.com", "a group of two hosts"],
    ["signalbox group set all web db", "a group of groups"],
    ["signalbox group set web web2.example.com --dry-run", "who would be ended by that?"],
  ],
  load: () => import("./group-set.impl.ts"),
};

export const groupAdd: Command = {
  id: "group add",
  topic: "Configure",
  brief: "add hosts or groups to a group",
  about: [`The group must be there; \`group set\` creates one. ${GUARDED}`],
  args: [GROUP, MEMBER],
  flags: ACTION_FLAGS,
  settings: CONNECTION_SETTINGS,
  examples: [["signalbox group add web web3.example.com", "a new host takes part from now on"]],
  load: () => import("./group-add.impl.ts"),
};

export const groupRemove: Command = {
  id: "group remove",
  topic: "Configure",
  brief: "take hosts or groups out of a group",
  about: [
    `What runs there with -g is ended. To let it end by itself first: signalbox drain host NAME --wait. ${GUARDED}`,
  ],
  args: [GROUP, MEMBER],
  flags: ACTION_FLAGS,
  settings: CONNECTION_SETTINGS,
  examples: [["signalbox group remove web web3.example.com --yes", "at once, in a script"]],
  load: () => import("./group-remove.impl.ts"),
};

export const groupDelete: Command = {
  id: "group delete",
  topic: "Configure",
  brief: "delete a group",
  about: [
    "Runs with -g GROUP are ended, new ones refused (exit 78). Where other groups have it as a member, its name is taken" +
      " for a host from then on; a drain of the group stops nobody any more.",
  ],
  args: [GROUP],
  flags: ACTION_FLAGS,
  settings: CONNECTION_SETTINGS,
  examples: [["signalbox group delete web --dry-run", "who would be ended by that?"]],
  load: () => import("./group-delete.impl.ts"),
};

export const groupList: Command = {
  id: "group list",
  topic: "Configure",
  brief: "list groups and their members",
  about: ["`signalbox show group NAME` says more about one."],
  flags: [{ name: "json", help: "as JSON" }],
  settings: CONNECTION_SETTINGS,
  examples: [["signalbox group list", "all groups"]],
  load: () => import("./group-list.impl.ts"),
};
