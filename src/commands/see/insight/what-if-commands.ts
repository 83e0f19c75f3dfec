import { DRAIN_SCOPES } from "../../../protocol/keys.ts";
import { declareCommand } from "../../declare-command.ts";

const ORDER =
  "The order follows the rules that runs use for their grants: `now` is granted at once, `then 1` when the runs that hold these locks and" +
  " resources have ended, `then 2` when those of `then 1` have ended. It assumes that no other run joins or leaves. Runs that wait for a" +
  " lock request their leases later, so their leases are not known. Changes nothing.";
const JSON_FLAG = { "--json": "as JSON" };

export const whatIfDrain = declareCommand({
  id: "whatif drain",
  topic: "See",
  brief: "what a drain would do now: who leaves, who is still granted, in which order",
  about: [ORDER],
  args: {
    SCOPE: { choices: DRAIN_SCOPES, help: "what to drain" },
    "[NAME]": { names: ["lock", "resource", "host", "group"], help: "its name; none for all" },
  },
  flags: JSON_FLAG,
  examples: {
    "signalbox whatif drain host web1.example.com": "which runs would the drain of this host stop?",
  },
  load: () => import("./what-if-drain.impl.ts"),
});

export const whatIfReset = declareCommand({
  id: "whatif reset",
  topic: "See",
  brief: "what a reset would do now: who ends, who is granted, in which order",
  about: [ORDER],
  args: {
    KIND: { choices: ["lock", "resource"], help: "kind of object" },
    NAME: { names: ["lock", "resource"], help: "its name" },
  },
  flags: { "--run RUN": { names: "run", help: "reset only this run (its full id)" }, ...JSON_FLAG },
  examples: { "signalbox whatif reset lock invoices": "who gets the lock after a reset?" },
  load: () => import("./what-if-reset.impl.ts"),
});

export const whatIfTotal = declareCommand({
  id: "whatif total",
  topic: "See",
  brief: "what a new total would do now: who leaves, who is granted, in which order",
  about: [ORDER],
  args: { RESOURCE: { names: "resource", help: "name of the resource" }, TOTAL: "units, a whole number" },
  flags: JSON_FLAG,
  examples: { "signalbox whatif total db 20": "which waiting runs would a total of 20 units let start?" },
  load: () => import("./what-if-total.impl.ts"),
});
