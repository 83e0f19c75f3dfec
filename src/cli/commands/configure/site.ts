import { SITE_KINDS } from "../../../core/fleet/configuration.ts";
import { type ArgumentDetails, declareCommand, declareFlags, type FlagsOf } from "../../frame/command.ts";
import { ACTION_FLAGS, UNGUARDED_ACTION_FLAGS } from "../../frame/command-line/flags.ts";

const FILE: ArgumentDetails = { help: "the file, YAML or JSON; - for standard input" };

const KIND_FLAGS = declareFlags({
  "--only KIND": { isRepeatable: true, choices: SITE_KINDS, help: "only what is of this kind" },
});

const PRUNES = ["own", "all"] as const;
const PRUNE_FLAG = {
  choices: PRUNES,
  help: "also delete what is not in the file and belongs to the owner, or, without --owner, to nobody; all: whoever owns it (default: own)",
} as const;

const SITE_FLAGS = declareFlags({
  "--owner TEAM":
    "own everything in the file, so that files of other owners cannot change it (default: the file may change everything)",
  "--adopt": "also take over what exists and has no owner, or another one",
  "--prune[=WHICH]": PRUNE_FLAG,
  ...KIND_FLAGS,
});

const DIFF_SITE_FLAGS = declareFlags({ ...SITE_FLAGS, "--json": "as JSON" });

export type DiffSiteFlags = FlagsOf<typeof DIFF_SITE_FLAGS>;

const diffSite = declareCommand({
  id: "diff",
  topic: "Configure",
  brief: "show what apply would change",
  about: [
    "Nothing is written. The exit code is 0 if the site is as the file says, 1 if something would change, and 78 for a" +
      " faulty file.",
  ],
  args: { FILE },
  flags: DIFF_SITE_FLAGS,
  examples: {
    "signalbox diff site.yaml --owner web --prune": "in CI: does the cluster match the file?",
  },
  load: async () => (await import("./site.impl.ts")).diffSite,
});

const APPLY_SITE_FLAGS = declareFlags({ ...SITE_FLAGS, ...ACTION_FLAGS });

export type ApplySiteFlags = FlagsOf<typeof APPLY_SITE_FLAGS>;

const applySite = declareCommand({
  id: "apply",
  topic: "Configure",
  brief: "make groups, resources, calendars and schedules as a file says",
  about: [
    "Reads the output of `export`, YAML or JSON. All faults are printed, with line and column, and nothing is changed (exit" +
      " 78). Otherwise the changes are shown, with the runs that they affect, and made after a confirmation. A kind that the" +
      " file does not have stays as it is, also with --prune. What is in the file gets exactly the fields that it has there, but" +
      " a pause and an owner stay unless the file has its own.",
    "All changes are one transaction. If they are too large for one, several transactions apply them, one after the other. If the" +
      " site changes so that something else would be done than was shown, the command stops and says what changed" +
      " (exit 75). What was not done yet is done when you run it again.",
    "With --owner, several teams share a cluster, each with a file: the owner is stored with everything in the file.",
  ],
  args: { FILE },
  flags: APPLY_SITE_FLAGS,
  examples: {
    "signalbox apply site.yaml --dry-run": "what would change?",
    "signalbox apply web.yaml --owner web --prune --yes":
      "in CI: exactly what the file has, and nothing of other teams",
    "signalbox apply site.yaml --prune=all": "exactly what the file has, whoever owns the rest",
  },
  load: async () => (await import("./site.impl.ts")).applySiteFile,
});

const EXPORT_SITE_FLAGS = declareFlags({
  ...KIND_FLAGS,
  "--format FORMAT": {
    choices: ["yaml", "json", "crontab"],
    help: "a crontab has only schedules (default: by the name of the file, else yaml)",
  },
});

export type ExportSiteFlags = FlagsOf<typeof EXPORT_SITE_FLAGS>;

const exportSite = declareCommand({
  id: "export",
  topic: "Configure",
  brief: "write groups, resources, calendars and schedules as one file",
  about: [
    "The file can be kept in git, and `apply` reads it. The order is always the same. A file that is up to date is not" +
      " written, another one is replaced atomically. A crontab has only what cron supports; comments list the rest.",
  ],
  args: { "[FILE]": "the file to write; - or nothing for standard output" },
  flags: EXPORT_SITE_FLAGS,
  examples: {
    "signalbox export site.yaml": "into a file",
    "signalbox export --format json | jq .groups.web": "one group",
  },
  load: async () => (await import("./site.impl.ts")).exportSite,
});

const EDIT_SITE_FLAGS = declareFlags({ ...KIND_FLAGS, ...UNGUARDED_ACTION_FLAGS });

export type EditSiteFlags = FlagsOf<typeof EDIT_SITE_FLAGS>;

const editSite = declareCommand({
  id: "edit",
  topic: "Configure",
  brief: "edit groups, resources, calendars and schedules in your editor",
  about: [
    "Opens the file of `export` in $VISUAL, $EDITOR or vi. Faults are shown, and the editor is opened again. Then the" +
      " changes are shown, with the runs they affect, and made as by `apply`; what you delete is deleted. If another operator" +
      " changes the same meanwhile, nothing is changed (exit 75). If the changes are not made, your file is kept, and its path is printed.",
    "The command needs a terminal; with --yes, the editor can be a script.",
  ],
  flags: EDIT_SITE_FLAGS,
  examples: {
    "signalbox edit": "change several things at once",
    "signalbox edit --only groups": "only groups",
  },
  load: async () => (await import("./site.impl.ts")).editSite,
});

const IMPORT_SWITCHMAN_FLAGS = declareFlags({
  "--prune[=WHICH]": {
    choices: PRUNES,
    help: "also delete what the document does not have and nobody owns; all: whoever owns it (default: own)",
  },
  ...ACTION_FLAGS,
});

export type ImportSwitchmanFlags = FlagsOf<typeof IMPORT_SWITCHMAN_FLAGS>;

export const importSwitchman = declareCommand({
  id: "import switchman",
  topic: "Migrate",
  brief: "set groups and resources from switchman's znode",
  about: [
    "Reads the JSON that switchman keeps in the znode of its prefix, as a file or as printed by ZooKeeper's shell, with" +
      " lines before and after: zkCli.sh get /myproject/switchman. The rest is as with `apply`: the document is checked," +
      " the changes are shown with the runs they affect, and made in one transaction.",
    "Members of a group must be full names of hosts, or groups; a note lists other members, since short names match no" +
      " host. Resources get their position in the list as their order. Runs state the totals themselves," +
      " as with switchman; signalbox resource set configures a total.",
  ],
  args: { FILE: "the znode's data; - for standard input" },
  flags: IMPORT_SWITCHMAN_FLAGS,
  examples: {
    "zkCli.sh get /myproject/switchman | signalbox import switchman - --dry-run": "what would change?",
    "signalbox import switchman znode.json --yes": "in a script",
  },
  load: async () => (await import("./site.impl.ts")).importSwitchmanData,
});

export const SITE_COMMANDS = [diffSite, applySite, exportSite, editSite] as const;
