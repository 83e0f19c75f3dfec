import { UsageError } from "../../../core/base/errors.ts";
import { formatSize, parseSize } from "../../../core/base/size.ts";
import { quoteText } from "../../../core/base/text.ts";
import { parseCondition } from "../../../core/fleet/conditions.ts";
import { CONTAINER_RULES } from "../../../core/process/guarded-command/container.ts";
import {
  CONNECTION_SETTINGS,
  declareCommand,
  declareFlags,
  type FlagsOf,
  LOGGING_SETTINGS,
} from "../../frame/command.ts";
import { createCountParser } from "../../frame/command-line/values.ts";

/** The smallest size of kept output, bytes. */
const MIN_CAPTURE_BYTES = 16 * 1024;

/** @throws UsageError */
function parseCaptureSize(text: string, flag: string): number {
  const parsed = parseSize(text);
  if ("fault" in parsed) throw new UsageError(`${flag}: ${parsed.fault}`);
  if (parsed.value >= MIN_CAPTURE_BYTES) return parsed.value;
  throw new UsageError(`${flag} must be at least ${formatSize(MIN_CAPTURE_BYTES)}; got "${text}"`);
}

/** @throws UsageError */
function parsePingUrl(text: string, flag: string): string {
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) return text;
  throw new UsageError(`${flag} must be an address such as https://hc-ping.com/UUID; got ${quoteText(text)}`);
}

const RUN_FLAGS = declareFlags({
  "--lock NAME": {
    names: "lock",
    isRepeatable: true,
    help: "the lock (default: the command's base name); of several, the run takes all or none",
  },
  "--shared":
    "share the locks: with others that share it, but not beside a run without --shared, nor past one that waits",
  "--no-lock": "take no lock, only leases",
  "--wait[=DURATION]": "wait in the queue if the lock is held or drained, without limit or --wait=DURATION",
  "--lease RES=COUNT[:TOTAL]": {
    names: "resource",
    isRepeatable: true,
    help: "units of a resource, with macros (FQDN, HOST, CPU, MEMMB) and arithmetic",
  },
  "--if CONDITION": {
    isRepeatable: true,
    parse: parseCondition,
    help: "run only while this host fulfils it: load < CPU, pressure.memory < 10; with --wait, check again until it does",
  },
  "--signal SIGNAL":
    "what --timeout and --max-hold send instead of TERM; KILL follows after the termination timeout",
  "--preserve-status":
    "after --timeout or --max-hold, exit with the command's own code (137 after KILL) instead of 124",
  "--foreground":
    "let the command use the terminal: it may open /dev/tty and read what is typed, and gets Ctrl-C itself",
  "--container[=RULE]": {
    choices: CONTAINER_RULES,
    help: "end the container of docker run, podman run or nerdctl run with the run; if it is elsewhere: warn, or end the run (default: warn)",
  },
  "--capture[=SIZE]": {
    parse: parseCaptureSize,
    help: "keep the output on this host, for signalbox logs, and its last 4 KiB in the history; the command sees pipes, no terminal",
  },
  "--mask REGEX": { isRepeatable: true, help: "with --capture: replace what matches in the kept output" },
  "--retries NUMBER": {
    parse: createCountParser(0, 100),
    help: "how often to retry a command that failed or took longer than --timeout; the claim is held meanwhile",
  },
  "--retry-wait DURATION":
    "delay before the first retry, doubled for each further one, up to an hour (default: 30s)",
  "--jitter DURATION":
    "wait before the claim, up to this long; always the same time for the same locks, on every host",
  "--quiet-success":
    "print the output only if the command fails, when it has ended; the command sees a file, no terminal",
  "--ping URL": {
    parse: parsePingUrl,
    help: "tell a check of healthchecks.io, or what is compatible, about start, success and failure; the command sees pipes, no terminal",
  },
  "--on-failure ADDRESS|LINE":
    "when a run that had the claim has failed: call this address, or run this line",
  "--on-success ADDRESS|LINE": "the same when it has succeeded",
  "--dry-run": "print the claim and what blocks it, and change nothing",
  "--json": "with --dry-run: as JSON",
});

export type RunFlags = FlagsOf<typeof RUN_FLAGS>;

export const runCommand = declareCommand({
  id: "run",
  topic: "Run",
  brief: "run a command while holding a lock and leases",
  about: [
    "Takes the lock and the leases, runs the command while it holds them, and frees them. If they are lost, or the runner" +
      " dies or freezes, the command is ended before anyone else can get them.",
    "By default a run gives up at once and prints nothing if the lock is held: put the same line into the crontab of" +
      " several hosts, and one of them runs it. For leases a run waits, first come, first served.",
  ],
  takesCommand: true,
  flags: RUN_FLAGS,
  settings: [
    "group",
    "host",
    "timeout",
    "maxHold",
    "leaseTimeout",
    "grace",
    "ttl",
    "terminationTimeout",
    "busyExitCode",
    "killLeftovers",
    "history",
    "outputDirectory",
    "outputSize",
    "outputAge",
    "label",
    "recordArgs",
    "agent",
    "agentSocket",
    ...LOGGING_SETTINGS,
    ...CONNECTION_SETTINGS,
  ],
  examples: {
    "signalbox run --lock invoices -- ./invoices.sh":
      "one host at a time; the others give up and print nothing",
    "signalbox run --wait=10m --lock backup -- ./backup.sh": "wait in the queue for up to ten minutes",
    "signalbox run --lock orders --lock stock -- ./merge.sh": "both locks at the same time, or neither",
    "signalbox run --shared --wait=10m --lock data -- ./read.sh":
      "many readers, or one writer: signalbox run --wait --lock data",
    "signalbox run --lease db=2:10 -- ./report.sh": "2 of the database's 10 units, on any number of hosts",
    "signalbox run --lease FQDN_mem='4:int(MEMMB/1024)' -- ./crunch": "4 of this host's own GiB",
    "signalbox run --wait=2h --if 'load < CPU' --lock reindex -- ./reindex.sh":
      "when this host has a processor to spare",
    "signalbox run -g web -E 0 --grace 50s -- ./rotate.sh":
      "only on hosts of a group; exit with 0 if the lock is held",
    "signalbox run --capture --lock invoices -- ./invoices.sh":
      "and keep its output: signalbox logs invoices",
    "signalbox run --container --lock invoices -- podman run --rm invoices":
      "a job in a container, which ends with its lock",
    "signalbox run --retries 3 --retry-wait 1m --lock invoices -- ./invoices.sh":
      "again after 1, 2 and 4 minutes if it fails; nobody else gets the lock meanwhile",
    "signalbox run --quiet-success --jitter 5m --lock sync -- ./sync.sh":
      "at another moment than the other locks, and mail from cron only if it fails",
    "signalbox run --ping https://hc-ping.com/UUID --lock backup -- ./backup.sh":
      "a check shows when it starts, ends and fails",
    "signalbox run --on-failure mailto:ops@example.com --lock backup -- ./backup.sh":
      "or slack+https://…, ntfy+https://…, a command",
    "signalbox run --agent start --lock invoices -- ./invoices.sh":
      "start an agent, which makes the next runs faster",
    "signalbox run --lease db=2:10 --dry-run -- ./report.sh": "what blocks it now?",
  },
  load: () => import("./run.impl.ts"),
});
