/** Files and variables besides the settings, for the manual page and docs/commands.md. */
export type EnvironmentRow = readonly [term: string, text: string];

export const FILES: readonly EnvironmentRow[] = [
  ["/etc/signalbox/config.json", "settings of this host"],
  [
    "~/.config/signalbox/config.json",
    "settings of the user, which override those of the host; in $XDG_CONFIG_HOME if it is set",
  ],
];

export const VARIABLES: readonly EnvironmentRow[] = [
  ["SIGNALBOX_CONFIG", "read only this configuration file, as with -c"],
  ["SIGNALBOX_COMPLETION_TIMEOUT", "time limit for completions, instead of 300ms"],
  ["NO_COLOR", "disables colours in listings"],
  ["TRACEPARENT, TRACESTATE", "trace of the caller, which run continues (docs/traces.md)"],
  [
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "collector to which run, workers and the agent send spans; with the other variables of OpenTelemetry's SDK",
  ],
  ["VISUAL, EDITOR", "editor that `signalbox edit` starts"],
];

/** Variables that run sets for its command. */
export const GIVEN: readonly EnvironmentRow[] = [
  ["SIGNALBOX_CGROUP", "the path of its cgroup, if it has one: containers there end with the run"],
  ["SIGNALBOX_TOKEN", "the fencing token, which grows from one holder to the next"],
  ["SIGNALBOX_LOCK_KEY", "the key in etcd whose create_revision is the token"],
  ["SIGNALBOX_RUN", "id of the run"],
  ["SIGNALBOX_HOST", "name of this host"],
  ["SIGNALBOX_LEASES", 'the leased units, as JSON: {"db":2}'],
  ["TRACEPARENT, TRACESTATE", "its place in the trace of the run"],
];

export const PRECEDENCE =
  "Flags override variables, SIGNALBOX_* variables override those of etcdctl, variables override the user's file, and that" +
  " overrides the host's file and the defaults. The settings of a context override the rest of both files. `signalbox config` shows the values and their sources.";
