import { CONNECTION_SETTINGS, type Command } from "../../spec.ts";
import { CHECK_FLAGS } from "../findings.ts";
import { ACCEPT_FLAG } from "./accepted.ts";

export const doctor: Command = {
  id: "doctor",
  topic: "Check",
  brief: "examine etcd, the way to it, and all that is kept in it",
  about: [
    "Looks at members, versions, quorum, leader, alarms, the database's size, transports, permissions, clocks, this host's" +
      " settings and guardian, and at every key under the prefix, and says what to do about what is wrong. Writes nothing.",
    "The exit code is 0 where all is fine, 1 with warnings, 2 with failures, among them an etcd that is away.",
  ],
  flags: [
    {
      ...{ name: "role", value: "ROLE", choices: ["runner", "operator"] },
      help: "what the user in etcd should be allowed to do (default: runner)",
    },
    {
      name: "quota",
      value: "SIZE",
      help: "the database's quota, such as 8GiB (default: as etcd says, or 2GiB)",
    },
    ACCEPT_FLAG,
    ...CHECK_FLAGS,
  ],
  settings: [...CONNECTION_SETTINGS, "ttl", "terminationTimeout"],
  examples: [
    ["signalbox doctor", "is anything wrong?"],
    ["signalbox doctor --role operator", "may I drain and reset?"],
    ["signalbox doctor --nagios", "for monitoring"],
    ["signalbox doctor --nagios --accept member-version", "the same, with a warning that is known"],
    ["signalbox doctor --json | jq '.findings[] | select(.level != \"ok\")'", "for programs"],
  ],
  load: () => import("./doctor.impl.ts"),
};
