import { UsageError } from "../../../core/base/errors.ts";
import { quoteText } from "../../../core/base/text.ts";
import { CONNECTION_SETTINGS, declareCommand, declareFlags, type FlagsOf } from "../../frame/command.ts";
import { CHECK_FLAGS } from "./findings.ts";

const ACCEPT_FLAG = declareFlags({
  "--accept ID[=CHECK]": {
    isRepeatable: true,
    help:
      "ignore a known warning: by its id, as authentication, or for one thing only, as 'clock=clock of web1'." +
      " --json prints the ids. Failures are never ignored",
  },
});

const UNITS = ["", "k", "m", "g", "t"];

/** Parses a size such as `8GiB`, `2G` or `500MB`. All units are powers of 1024, as in etcd. @throws UsageError */
function parseQuota(text: string, flag: string): number {
  const [, number = "", unit = ""] = /^(\d{1,12}(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?$/i.exec(text) ?? [];
  const bytes = number === "" ? 0 : Number(number) * 1024 ** UNITS.indexOf(unit.toLowerCase());
  if (bytes < 1) throw new UsageError(`${flag} must be a size, such as 8GiB; got ${quoteText(text)}`);
  return bytes;
}

const DOCTOR_FLAGS = declareFlags({
  "--role ROLE": {
    choices: ["runner", "worker", "operator"],
    help: "the role whose permissions the etcd user needs (default: runner)",
  },
  "--quota SIZE": {
    parse: parseQuota,
    help: "the database's quota, such as 8GiB (default: as reported by etcd, or 2GiB)",
  },
  ...ACCEPT_FLAG,
  ...CHECK_FLAGS,
});

export type DoctorFlags = FlagsOf<typeof DOCTOR_FLAGS>;

export const doctor = declareCommand({
  id: "doctor",
  topic: "Check",
  brief: "check etcd, the connection to it, and all data under the prefix",
  about: [
    "Checks members, versions, quorum, leader, alarms, database size, transports, permissions, clocks, this host's" +
      " settings, native programs, agent and place for output, and every key under the prefix. Each problem is printed with a remedy. Writes nothing.",
    "The exit code is 0 if all is fine, 1 with warnings, 2 with failures, also if etcd is unreachable.",
  ],
  flags: DOCTOR_FLAGS,
  settings: [...CONNECTION_SETTINGS, "ttl", "terminationTimeout", "agentSocket", "outputDirectory"],
  examples: {
    "signalbox doctor": "is anything wrong?",
    "signalbox doctor --role operator": "am I allowed to drain and reset?",
    "signalbox doctor --role worker": "may a worker with this user run schedules?",
    "signalbox doctor --nagios": "for monitoring",
    "signalbox doctor --nagios --accept authentication": "the same, ignoring a known warning",
    "signalbox doctor --json | jq '.findings[] | select(.level != \"ok\")'": "for programs",
  },
  load: async () => (await import("./doctor.impl.ts")).runDoctor,
});

const INIT_FLAGS = declareFlags({
  "--json": "as JSON",
  "--forget-cluster": "first forget the cluster that this host remembers for the endpoints and the prefix",
});

export type InitFlags = FlagsOf<typeof INIT_FLAGS>;

export const init = declareCommand({
  id: "init",
  topic: "Check",
  brief: "check that runs work on this host: native programs, etcd, permissions, prefix",
  about: [
    "Writes nothing to etcd. Prints each problem with a remedy. The exit code is 0 if runs will work as configured: a user without" +
      " authentication in etcd is a failure. signalbox doctor" +
      " checks more, and takes longer.",
    "A host remembers the cluster that answers first, for each set of endpoints and each prefix, and refuses any other" +
      " (78). After the cluster was replaced on purpose, --forget-cluster lets the host accept the new one.",
  ],
  flags: INIT_FLAGS,
  examples: {
    "signalbox init": "is everything ready for runs on this host?",
    "signalbox init --forget-cluster": "the endpoints now belong to a new cluster",
  },
  load: async () => (await import("./doctor.impl.ts")).initHost,
});

const CHECK_HOSTS_FLAGS = declareFlags({
  "--within DURATION": "how long ago a host may have been seen (default: 1h)",
  ...CHECK_FLAGS,
});

export type CheckHostsFlags = FlagsOf<typeof CHECK_HOSTS_FLAGS>;

export const checkHosts = declareCommand({
  id: "check hosts",
  topic: "Check",
  brief: "check that each group has an active host",
  about: [
    "A host is active if signalbox run or a worker ran on it within the limit, or if one of its runs is alive now. A group without" +
      " an active host is a failure. Hosts that are not active, and members that were never seen, are warnings.",
    "The exit code is 0 if all is fine, 1 with warnings, 2 with failures, 69 if etcd could not be read.",
  ],
  args: { "[GROUP...]": { names: "group", help: "only these groups" } },
  flags: CHECK_HOSTS_FLAGS,
  examples: {
    "signalbox check hosts": "every group",
    "signalbox check hosts web db --within 15m": "two groups, with hosts seen in the last 15 minutes",
    "signalbox check hosts --nagios": "for monitoring",
  },
  load: async () => (await import("./doctor.impl.ts")).checkGroupHosts,
});

export const DOCTOR_COMMANDS = [init, doctor] as const;
