import { declareCommand } from "../declare-command.ts";
import { CONNECTION_SETTINGS } from "../spec.ts";
import { ACCEPT_FLAG } from "./doctor/accepted.ts";
import { CHECK_FLAGS } from "./findings.ts";

export const doctor = declareCommand({
  id: "doctor",
  topic: "Check",
  brief: "check etcd, the connection to it, and all data under the prefix",
  about: [
    "Checks members, versions, quorum, leader, alarms, database size, transports, permissions, clocks, this host's" +
      " settings, native programs, agent and place for output, and every key under the prefix. Each problem is printed with a remedy. Writes nothing.",
    "The exit code is 0 if all is fine, 1 with warnings, 2 with failures, also if etcd is unreachable.",
  ],
  flags: {
    "--role ROLE": {
      choices: ["runner", "operator"],
      help: "the role whose permissions the etcd user needs (default: runner)",
    },
    "--quota SIZE": "the database's quota, such as 8GiB (default: as reported by etcd, or 2GiB)",
    ...ACCEPT_FLAG,
    ...CHECK_FLAGS,
  },
  settings: [...CONNECTION_SETTINGS, "ttl", "terminationTimeout", "agentSocket", "outputDirectory"],
  examples: {
    "signalbox doctor": "is anything wrong?",
    "signalbox doctor --role operator": "am I allowed to drain and reset?",
    "signalbox doctor --nagios": "for monitoring",
    "signalbox doctor --nagios --accept authentication": "the same, ignoring a known warning",
    "signalbox doctor --json | jq '.findings[] | select(.level != \"ok\")'": "for programs",
  },
  load: () => import("./doctor.impl.ts"),
});
