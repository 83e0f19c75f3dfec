import { declareCommand } from "../declare-command.ts";
import { CHECK_FLAGS } from "./findings.ts";

export const checkHosts = declareCommand({
  id: "check hosts",
  topic: "Check",
  brief: "check that each group has an active host",
  about: [
    "A host is active if it has used signalbox run within the limit, or if one of its runs is alive now. A group without an active" +
      " host is a failure. Hosts that are not active, and members that were never seen, are warnings.",
    "The exit code is 0 if all is fine, 1 with warnings, 2 with failures, 69 if etcd could not be read.",
  ],
  args: { "[GROUP...]": { names: "group", help: "only these groups" } },
  flags: { "--within DURATION": "how long ago a host may have been seen (default: 1h)", ...CHECK_FLAGS },
  examples: {
    "signalbox check hosts": "every group",
    "signalbox check hosts web db --within 15m": "two groups, with hosts seen in the last 15 minutes",
    "signalbox check hosts --nagios": "for monitoring",
  },
  load: () => import("./check-hosts.impl.ts"),
});
