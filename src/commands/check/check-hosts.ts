import { CONNECTION_SETTINGS, type Command } from "../spec.ts";
import { CHECK_FLAGS } from "./findings.ts";

export const checkHosts: Command = {
  id: "check hosts",
  topic: "Check",
  brief: "check that each group has a host that is there",
  about: [
    "A host is there when it has run signalbox run within the limit, or a run of it is alive now. A group without any such host" +
      " is a failure; single hosts that are missing, and members that nobody has ever seen, are warnings.",
    "The exit code is 0 where all is fine, 1 with warnings, 2 with failures, 69 where etcd could not be asked.",
  ],
  args: [{ name: "GROUP", isRest: true, isOptional: true, names: "group", help: "these groups only" }],
  flags: [
    { name: "within", value: "DURATION", help: "how long ago a host may have been seen (default 1h)" },
    ...CHECK_FLAGS,
  ],
  settings: CONNECTION_SETTINGS,
  examples: [
    ["signalbox check hosts", "every group"],
    [
      "signalbox check hosts web db --within 15m",
      "two of them, with a host each of the last quarter of an hour",
    ],
    ["signalbox check hosts --nagios", "for monitoring"],
  ],
  load: () => import("./check-hosts.impl.ts"),
};
