import { type ArgumentDetails, declareCommand } from "../../frame/command.ts";
import { ACTION_FLAGS } from "../../frame/command-line/flags.ts";

const GROUP: ArgumentDetails = { names: "group", help: "name of the group" };
const MEMBER: ArgumentDetails = { names: ["host", "group"], help: "hosts and groups" };

const GUARDED =
  "The changes are printed. If a change ends a running command (its host leaves the group of its -g), removes a run from its" +
  " queues, or deletes something, the command asks first; use --yes in scripts. If another operator changes the group meanwhile," +
  " nothing is changed (exit 75), and the changes are printed. If the group is up to date, nothing is written.";

const groupSet = declareCommand({
  id: "group set",
  topic: "Configure",
  brief: "create or change a group of hosts",
  about: [
    "Groups can be nested: a member that is the name of a group stands for that group. Any other member is a host, by its" +
      " full name. Runs with -g GROUP run only on its hosts, and are ended when their host is removed.",
    GUARDED,
  ],
  args: {
    GROUP,
    "[MEMBER...]": { ...MEMBER, help: "hosts and groups; without any, the group becomes empty" },
  },
  flags: ACTION_FLAGS,
  examples: {
    "signalbox group set web web1.example.com web2.example.com": "a group of two hosts",
    "signalbox group set all web db": "a group of groups",
    "signalbox group set web web2.example.com --dry-run": "which runs would be ended?",
  },
  load: async () => (await import("./group.impl.ts")).setMembers,
});

const groupAdd = declareCommand({
  id: "group add",
  topic: "Configure",
  brief: "add hosts or groups to a group",
  about: [`The group must exist; \`group set\` creates one. ${GUARDED}`],
  args: { GROUP, "MEMBER...": MEMBER },
  flags: ACTION_FLAGS,
  examples: { "signalbox group add web web3.example.com": "a new host takes part" },
  load: async () => (await import("./group.impl.ts")).addMembers,
});

const groupRemove = declareCommand({
  id: "group remove",
  topic: "Configure",
  brief: "take hosts or groups out of a group",
  about: [
    `Runs on these hosts with -g are ended. To let them finish first: signalbox drain host NAME --wait. ${GUARDED}`,
  ],
  args: { GROUP, "MEMBER...": MEMBER },
  flags: ACTION_FLAGS,
  examples: { "signalbox group remove web web3.example.com --yes": "in a script" },
  load: async () => (await import("./group.impl.ts")).removeMembers,
});

const groupDelete = declareCommand({
  id: "group delete",
  topic: "Configure",
  brief: "delete a group",
  about: [
    "Runs with -g GROUP are ended, and new ones are refused (exit 78). In groups that have it as a member, its name is then" +
      " treated as a host. A drain of the group has no effect any more.",
  ],
  args: { GROUP },
  flags: ACTION_FLAGS,
  examples: { "signalbox group delete web --dry-run": "which runs would be ended?" },
  load: async () => (await import("./group.impl.ts")).deleteGroup,
});

export const GROUP_COMMANDS = [groupSet, groupAdd, groupRemove, groupDelete] as const;
