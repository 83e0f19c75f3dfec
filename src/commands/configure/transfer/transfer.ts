import { ACTION_FLAGS } from "../../command-line/flags.ts";
import { CONNECTION_SETTINGS, type Command } from "../../spec.ts";

export const exportConfig: Command = {
  id: "export",
  topic: "Configure",
  brief: "write all groups and resources as one JSON document",
  about: [
    "Made to be kept in git: always in the same order, and a file that says the same already is left alone. A file is" +
      " replaced whole or not at all.",
  ],
  args: [{ name: "FILE", isOptional: true, help: "where to write it; - or nothing is standard output" }],
  settings: CONNECTION_SETTINGS,
  examples: [
    ["signalbox export signalbox.json", "into a file"],
    ["signalbox export | jq .groups.web", "one group"],
  ],
  load: () => import("./export.impl.ts"),
};

export const importConfig: Command = {
  id: "import",
  topic: "Configure",
  brief: "set groups and resources from a JSON document",
  about: [
    'Takes what `export` writes, and what switchman keeps: {"groups": {NAME: HOST or [MEMBER, ...]}, "resources":' +
      " [NAME, ...]}. A resource that is only a name takes its place in the list as its order, and keeps the total that it" +
      " has; without one, runs state it themselves, as with switchman.",
    "All of it is checked first, and every fault told with its line. Then the changes are shown, with whom they hit, and" +
      " made in one transaction: all or none. If the configuration changes meanwhile, nothing is done (exit 75). What the" +
      " document does not have stays, unless --replace is given; of groups or resources that it does not mention at all, even" +
      " then.",
  ],
  args: [{ name: "FILE", help: "the document; - is standard input" }],
  flags: [{ name: "replace", help: "also delete what the document does not have" }, ...ACTION_FLAGS],
  settings: CONNECTION_SETTINGS,
  examples: [
    ["signalbox import signalbox.json --dry-run", "what would change?"],
    ["signalbox import signalbox.json --replace --yes", "from a script: as the file says, and nothing else"],
  ],
  load: () => import("./import.impl.ts"),
};

export const importSwitchman: Command = {
  id: "import switchman",
  topic: "Migrate",
  brief: "set groups and resources from switchman's znode",
  about: [
    "Takes the JSON that switchman keeps in the znode of its prefix, as a file or as ZooKeeper's shell prints it, with" +
      " lines before and after: zkCli.sh get /myproject/switchman. From there on it is `import`: all of it is checked," +
      " shown with whom it hits, and made in one transaction.",
    "A group's members must be full names of hosts, or groups; others are told, as no host is in the group by a short" +
      " name. Resources take their places in the list as their order. Their totals stand in the lines that lease them," +
      " as with switchman; signalbox resource set gives one to all.",
  ],
  args: [{ name: "FILE", help: "the znode's data; - is standard input" }],
  flags: [{ name: "replace", help: "also delete what the document does not have" }, ...ACTION_FLAGS],
  settings: CONNECTION_SETTINGS,
  examples: [
    ["zkCli.sh get /myproject/switchman | signalbox import switchman - --dry-run", "what would change?"],
    ["signalbox import switchman znode.json --yes", "from a script"],
  ],
  load: () => import("./import-switchman.impl.ts"),
};

export const editConfig: Command = {
  id: "edit",
  topic: "Configure",
  brief: "edit all groups and resources in your editor",
  about: [
    "Opens the document of `export` in $VISUAL, $EDITOR or vi. Faults are shown, and the editor is opened again. Then the" +
      " changes are shown, with whom they hit, and made in one transaction. If somebody else has changed the configuration" +
      " meanwhile, nothing is done (exit 75). Whatever happens, what was typed is not lost: the file is kept, and named.",
    "It needs a terminal; with --yes, a script can be the editor.",
  ],
  flags: ACTION_FLAGS.filter(({ name }) => name !== "expect-revision"),
  settings: CONNECTION_SETTINGS,
  examples: [["signalbox edit", "change several things at once"]],
  load: () => import("./edit.impl.ts"),
};
