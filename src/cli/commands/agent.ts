import {
  CONNECTION_SETTINGS,
  declareCommand,
  declareFlags,
  type FlagsOf,
  LOGGING_SETTINGS,
} from "../frame/command.ts";

const AGENT_FLAGS = declareFlags({
  "--metrics [HOST:]PORT": "serve metrics for Prometheus, and /healthz",
  "--idle-timeout DURATION": "end when no run was served for this long, or the program was replaced",
});

/** Values of these flags. */
export type AgentFlags = FlagsOf<typeof AGENT_FLAGS>;

export const agentCommand = declareCommand({
  id: "agent",
  topic: "Run",
  brief: "serve the runs of this host over one connection to etcd",
  about: [
    "While an agent runs, signalbox run and the front ends on this host need no connection and no session of their own:" +
      " they start within milliseconds, and a waiting run needs little memory. Without an agent, or if it cannot serve" +
      " a call, they do everything themselves; output, exit codes and safety are the same.",
    "Commands run in the context of their caller, never in that of the agent. The agent can be restarted while they run:" +
      " they go on, and the new agent takes them over within the time to live of their session.",
    "With the setting agent = start, a run that finds no agent starts one for its user, with --idle-timeout 10m.",
    "After TERM or INT the agent ends at once and frees nothing. The default log level is info.",
  ],
  flags: AGENT_FLAGS,
  settings: [
    "agentSocket",
    "agentAllow",
    "host",
    "ttl",
    "terminationTimeout",
    "outputDirectory",
    ...LOGGING_SETTINGS,
    ...CONNECTION_SETTINGS,
  ],
  examples: {
    "signalbox agent": "serve the runs of this user; as root, those of the whole host",
    "signalbox agent --agent-allow deploy,%cron": "also those of another user and of a group",
    "signalbox agent --metrics :9466": "with metrics for Prometheus",
  },
});
