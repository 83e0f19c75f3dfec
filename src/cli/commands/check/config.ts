import { CONNECTION_SETTINGS, declareCommand, LOGGING_SETTINGS } from "../../frame/command.ts";
import { JSON_FLAGS } from "../../frame/command-line/flags.ts";

export const config = declareCommand({
  id: "config",
  topic: "Check",
  brief: "print the effective settings, and where each comes from",
  about: [
    "Flags override SIGNALBOX_* variables, these override etcdctl's ETCDCTL_* variables, then follow the user's file" +
      " ($XDG_CONFIG_HOME/signalbox/config.json), /etc/signalbox/config.json, and the defaults.",
  ],
  flags: JSON_FLAGS,
  settings: ["host", "group", "ttl", "terminationTimeout", ...LOGGING_SETTINGS, ...CONNECTION_SETTINGS],
  examples: {
    "signalbox config": "the settings of a run in this shell",
    "signalbox config -c ./test.json": "is this file valid? (exit 78 if not)",
  },
  load: async () => (await import("./config.impl.ts")).showConfig,
});

const contextList = declareCommand({
  id: "context list",
  topic: "Check",
  brief: "the contexts of the configuration: several clusters, and which is active",
  about: [
    'A context is a set of settings in the configuration file: {"contexts": {"prod": {"endpoints": ["https://etcd1:2379"]}}, "context":' +
      ' "prod"}. Choose one with --context NAME, SIGNALBOX_CONTEXT, or "context" in the file. Flags and variables override its settings,' +
      " and it overrides the rest of the file. This command contacts no cluster.",
  ],
  flags: JSON_FLAGS,
  settings: [],
  examples: {
    "signalbox context list": "names, addresses and prefixes, and which one is active",
    "signalbox context list --json | jq -r '.contexts[] | select(.active) | .name'": "for programs",
  },
  load: async () => (await import("./config.impl.ts")).printContexts,
});

const contextShow = declareCommand({
  id: "context show",
  topic: "Check",
  brief: "the settings of a context, and where each comes from",
  args: { "[NAME]": { names: "context", help: "name of the context (default: the active one)" } },
  flags: JSON_FLAGS,
  settings: [],
  examples: {
    "signalbox context show prod": "what commands with --context prod use; passwords are not shown",
  },
  load: async () => (await import("./config.impl.ts")).showContext,
});

export const CONFIG_COMMANDS = [config, contextList, contextShow] as const;
