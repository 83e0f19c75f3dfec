/** What signalbox reads beside its settings, and what a command finds: for the manual and docs/commands.md. */
export type EnvironmentRow = readonly [term: string, text: string];

export const FILES: readonly EnvironmentRow[] = [
  ["/etc/signalbox/config.json", "settings of this host"],
  [
    "~/.config/signalbox/config.json",
    "settings of the user, stronger than those of the host; below $XDG_CONFIG_HOME where that is set",
  ],
];

export const VARIABLES: readonly EnvironmentRow[] = [
  ["SIGNALBOX_CONFIG", "read only this configuration file; as -c"],
  ["SIGNALBOX_COMPLETION_TIMEOUT", "how long completions may take in all, instead of 300ms"],
  ["NO_COLOR", "no colours in listings"],
  ["VISUAL, EDITOR", "what edit opens the configuration with"],
];

/** As run gives them to its command. */
export const GIVEN: readonly EnvironmentRow[] = [
  ["SIGNALBOX_TOKEN", "the fencing token, which grows from holder to holder"],
  ["SIGNALBOX_LOCK_KEY", "the key in etcd whose create_revision is the token"],
  ["SIGNALBOX_RUN", "id of the run"],
  ["SIGNALBOX_HOST", "name of this host"],
  ["SIGNALBOX_LEASES", 'what is leased, as JSON: {"db":2}'],
];

export const PRECEDENCE =
  "A flag wins over a variable, SIGNALBOX_* over etcdctl's own, a variable over the user's file, that over the host's, all over" +
  " the default. `signalbox config` shows what holds, and why.";
