import { DRAIN_SCOPES } from "../../../core/protocol/keys.ts";
import { type ArgumentDetails, declareFlags, declareRowCommand, type FlagsOf } from "../../frame/command.ts";
import { ACTION_FLAGS } from "../../frame/command-line/flags.ts";

const SCOPE: ArgumentDetails = { choices: DRAIN_SCOPES, help: "lock, resource, host, group or all" };
const NAME: ArgumentDetails = { help: "the name of the lock, resource, host or group; none for all" };

const DRAIN_FLAGS = declareFlags({
  "--for DURATION": "lift the drain automatically after this time",
  "--keep": "leave an existing drain as it is",
  "-w, --wait": "wait until nothing in the scope is held",
  "--timeout DURATION":
    "wait no longer than this (exit 124), then list the remaining holders; the drain stays",
  "--reset":
    "with --wait and --timeout: end the remaining commands after the timeout, and wait until they have ended; tasks of workers end by themselves",
  ...ACTION_FLAGS,
});

export type DrainFlags = FlagsOf<typeof DRAIN_FLAGS>;

export const drain = declareRowCommand({
  id: "drain",
  topic: "Act",
  rows: {
    key: "D",
    kinds: ["lock", "resource", "host", "group", "run", "drain"],
    refusal: "only locks, resources, hosts and groups can be drained",
    danger: "stopsRuns",
  },
  brief: "stop new grants for a lock, resource, host, group or everything",
  about: [
    "From the revision of the drain on, nothing is granted in its scope. Running commands continue, and a run that was granted just" +
      " before still starts its command. The output lists the holders and the tasks of workers, and --wait waits for them: after exit code 0, no" +
      " command runs or starts in the scope as long as the drain exists.",
    "A run in a drained scope gives" +
      " up (75). With `run --wait` it waits until the drain ends, and keeps its position if the drain stops every queue it is in.",
    "If the target is drained already, nothing changes, unless the end or the reason differ: then the drain is replaced." +
      " If another operator changes the drain meanwhile, nothing is changed (exit 75).",
    "With --wait the command returns when nothing in the scope is held any more (a ticket in grace does not count), or when the" +
      " drain was lifted meanwhile (exit 75). It keeps waiting while etcd is unreachable. Ctrl+C ends the wait, not the drain.",
  ],
  args: { SCOPE, "[NAME]": { ...NAME, names: "lock" } },
  flags: DRAIN_FLAGS,
  examples: {
    "signalbox drain host web1.example.com --reason 'new disks'": "show which runs are affected, and ask",
    "signalbox drain host web1.example.com --wait --yes && ssh web1 reboot": "in a script",
    "signalbox drain all --for 2h --reason 'etcd upgrade' --wait": "everything, for at most two hours",
    "signalbox drain resource db --wait --timeout 10m --reset --yes":
      "end the runs that still use it after 10 minutes",
    "signalbox drain group web --dry-run": "show the hosts, holders and waiting runs",
  },
  load: async () => (await import("./drain.impl.ts")).drainTarget,
});

const undrain = declareRowCommand({
  id: "undrain",
  topic: "Act",
  rows: {
    key: "U",
    kinds: ["drain", "lock", "resource", "host", "group"],
    refusal: "only locks, resources, hosts and groups can be undrained",
  },
  brief: "lift a drain; queues continue in their order",
  about: [
    "Lifts the drain of exactly this target, and lists other drains that still stop it. `undrain all` lifts only the drain of" +
      " everything. If another operator changes the drain meanwhile, nothing is changed (exit 75).",
    "With --expect-revision, a drain that was created or changed after that revision is not lifted. So a script can lift only its own" +
      " drain (`drain --json` prints its revision).",
  ],
  args: { SCOPE, "[NAME]": { ...NAME, names: "drain" } },
  flags: ACTION_FLAGS,
  examples: {
    "signalbox undrain host web1.example.com": "show which runs can continue, and ask",
    "signalbox undrain all --yes --reason 'upgrade is done'": "in a script",
  },
  load: async () => (await import("./drain.impl.ts")).undrainTarget,
});

export const DRAIN_COMMANDS = [drain, undrain] as const;
