import { DRAIN_SCOPES } from "../../../protocol/keys.ts";
import { ACTION_FLAGS } from "../../command-line/flags.ts";
import { type Argument, CONNECTION_SETTINGS, type Command } from "../../spec.ts";

const SCOPE: Argument = { name: "SCOPE", choices: DRAIN_SCOPES, help: "lock, resource, host, group or all" };
const NAME: Argument = { name: "NAME", isOptional: true, help: "what is meant in the scope; none for all" };

export const drain: Command = {
  id: "drain",
  topic: "Act",
  key: "D",
  brief: "stop new grants for a lock, resource, host, group or everything",
  about: [
    "From the drain's revision on nothing is granted in its scope. Commands that run go on, and a run that was granted just" +
      " before still starts its command. Drain names those who hold, and --wait waits for them: after it has returned 0, no" +
      " command runs or starts in the scope while the drain stands.",
    "A run that meets a drain gives" +
      " up (75), or with --wait comes back once it may: in its old place where the drain stops every queue it stands in.",
    "Draining what is drained already changes nothing, unless the end or the reason are others: then the drain is replaced." +
      " If another operator changes the drain meanwhile, nothing is done (exit 75).",
    "With --wait it returns when nobody holds anything in the scope any more (a place in grace is nobody's), or when the" +
      " drain was lifted meanwhile (exit 75). It outlasts the loss of etcd. Ctrl+C ends the waiting; the drain stands.",
  ],
  args: [SCOPE, { ...NAME, names: "lock" }],
  flags: [
    { name: "for", value: "DURATION", help: "it ends by itself after this time" },
    { name: "keep", help: "where it is drained already, leave that drain as it is" },
    { name: "wait", short: "w", help: "wait until nobody holds anything in the scope" },
    {
      name: "timeout",
      value: "DURATION",
      help: "wait no longer than this (exit 124), and say who remains; the drain stands",
    },
    {
      name: "reset",
      help: "with --wait and --timeout: end the commands that remain then, and wait until they are dead",
    },
    ...ACTION_FLAGS,
  ],
  settings: CONNECTION_SETTINGS,
  examples: [
    ["signalbox drain host web1.example.com --reason 'new disks'", "shows who is hit, and asks"],
    ["signalbox drain host web1.example.com --wait --yes && ssh web1 reboot", "in a script"],
    ["signalbox drain all --for 2h --reason 'etcd upgrade' --wait", "everything, for two hours at most"],
    [
      "signalbox drain resource db --wait --timeout 10m --reset --yes",
      "those who still use it after 10 minutes are ended",
    ],
    ["signalbox drain group web --dry-run", "which hosts, who holds, who waits"],
  ],
  load: () => import("./drain.impl.ts"),
};

export const undrain: Command = {
  id: "undrain",
  topic: "Act",
  key: "U",
  brief: "lift a drain; queues go on in their order",
  about: [
    "Lifts the drain of exactly this, and says which others still stop it. `undrain all` lifts only the drain of" +
      " everything. A drain that somebody else changed meanwhile is not lifted (exit 75).",
    "With --expect-revision, a drain that was put or changed after that revision is not lifted: so a script lifts its own" +
      " drain and no other (`drain --json` gives its revision).",
  ],
  args: [SCOPE, { ...NAME, names: "drain" }],
  flags: ACTION_FLAGS,
  settings: CONNECTION_SETTINGS,
  examples: [
    ["signalbox undrain host web1.example.com", "shows whom it lets go on, and asks"],
    ["signalbox undrain all --yes --reason 'upgrade is done'", "in a script"],
  ],
  load: () => import("./undrain.impl.ts"),
};
