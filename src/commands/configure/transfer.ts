import { declareCommand, declareFlags, type FlagsOf } from "../command.ts";
import { ACTION_FLAGS, UNGUARDED_ACTION_FLAGS } from "../command-line/flags.ts";

const exportConfig = declareCommand({
  id: "export",
  topic: "Configure",
  brief: "write all groups and resources as one JSON document",
  about: [
    "The output can be kept in git: the order is always the same, and a file that is up to date is not written. A file is" +
      " replaced atomically.",
  ],
  args: { "[FILE]": "the file to write; - or nothing for standard output" },
  examples: {
    "signalbox export signalbox.json": "into a file",
    "signalbox export | jq .groups.web": "one group",
  },
  load: async () => (await import("./transfer.impl.ts")).exportConfiguration,
});

const IMPORT_CONFIG_FLAGS = declareFlags({
  "--replace": "also delete what the document does not have",
  ...ACTION_FLAGS,
});

/** Values of these flags. */
export type ImportConfigFlags = FlagsOf<typeof IMPORT_CONFIG_FLAGS>;

const importConfig = declareCommand({
  id: "import",
  topic: "Configure",
  brief: "set groups and resources from a JSON document",
  about: [
    'Reads the format of `export`, and that of switchman: {"groups": {NAME: HOST or [MEMBER, ...]}, "resources":' +
      " [NAME, ...]}. A resource that is only a name gets its position in the list as its order, and keeps its" +
      " total; without a total, runs state it themselves, as with switchman.",
    "The document is checked first, and every fault is printed with its line. Then the changes are shown, with the runs they affect," +
      " and made in one transaction: all or none. If the configuration changes meanwhile, nothing is done (exit 75). What the" +
      " document does not have stays, unless --replace is given. If it has no key groups, or no key resources, these stay even" +
      " with --replace.",
  ],
  args: { FILE: "the document; - for standard input" },
  flags: IMPORT_CONFIG_FLAGS,
  examples: {
    "signalbox import signalbox.json --dry-run": "what would change?",
    "signalbox import signalbox.json --replace --yes": "in a script: exactly what the file has",
  },
  load: async () => (await import("./transfer.impl.ts")).importConfiguration,
});

export const importSwitchman = declareCommand({
  id: "import switchman",
  topic: "Migrate",
  brief: "set groups and resources from switchman's znode",
  about: [
    "Reads the JSON that switchman keeps in the znode of its prefix, as a file or as printed by ZooKeeper's shell, with" +
      " lines before and after: zkCli.sh get /myproject/switchman. The rest is as with `import`: the document is checked," +
      " the changes are shown with the runs they affect, and made in one transaction.",
    "Members of a group must be full names of hosts, or groups; a note lists other members, since short names match no" +
      " host. Resources get their position in the list as their order. Runs state the totals themselves," +
      " as with switchman; signalbox resource set configures a total.",
  ],
  args: { FILE: "the znode's data; - for standard input" },
  flags: IMPORT_CONFIG_FLAGS,
  examples: {
    "zkCli.sh get /myproject/switchman | signalbox import switchman - --dry-run": "what would change?",
    "signalbox import switchman znode.json --yes": "in a script",
  },
  load: async () => (await import("./transfer.impl.ts")).importSwitchmanData,
});

const editConfig = declareCommand({
  id: "edit",
  topic: "Configure",
  brief: "edit all groups and resources in your editor",
  about: [
    "Opens the document of `export` in $VISUAL, $EDITOR or vi. Faults are shown, and the editor is opened again. Then the" +
      " changes are shown, with the runs they affect, and made in one transaction. If another operator changes the configuration" +
      " meanwhile, nothing is done (exit 75). If the changes are not made, your file is kept, and its path is printed.",
    "The command needs a terminal; with --yes, the editor can be a script.",
  ],
  flags: UNGUARDED_ACTION_FLAGS,
  examples: { "signalbox edit": "change several things at once" },
  load: async () => (await import("./transfer.impl.ts")).editConfiguration,
});

/** In the order of the help. */
export const CONFIG_TRANSFER_COMMANDS = [exportConfig, importConfig, editConfig] as const;
