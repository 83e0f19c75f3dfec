/** Sentences of docs/ about errors and limits: the page has the sentence, and the program does what it says. */

import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";

const DOCS = resolve(import.meta.dirname, "../../../docs");
const cluster = TestCluster.startForFile();
const { test } = cluster;

/** Lines in their order; the last one ends with the code and the message. A text in `<>` becomes a file, writable by all after `!`. */
type Case = [page: string, sentence: string, lines: string | string[], code: number, message: string];

const repeat = (count: number, build: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => build(at)).join(" ");
const EVERY_DAY = "calendar add c mon,tue,wed,thu,fri,sat,sun";
const ADD_PAIR = ["schedule add a @manual -- true", "schedule add b --after a -- true"];
const HTTP = "worker --handlers <handlers: [{type: a, http: {url: 'http://x/', ";
const CASES: Case[] = [
  [
    "run.md",
    "is one *claim* of up to 16 locks",
    `run ${repeat(17, (at) => `--lock l${at}`)} -- true`,
    64,
    "at most 16 locks; got 17",
  ],
  [
    "run.md",
    "A command that cannot be started (126, 127) is not retried",
    "run --retries 3 --lock a -- /no/such",
    127,
    "was not found",
  ],
  [
    "run.md",
    "a retry for which it leaves no time is not made",
    "run --retries 3 --retry-wait 1h --max-hold 1m --lock a -- false",
    1,
    "",
  ],
  ["run.md", "that of `-E`", ["drain lock a --yes", "run -E 9 --lock a -- true"], 9, ""],
  [
    "safety.md",
    "refuses a termination timeout with which every command would be ended",
    "run --ttl 10s --termination-timeout 9s --lock a -- true",
    78,
    "does not fit into ttl 10s",
  ],
  [
    "safety.md",
    "| 10s | 3s | 6 s | 9 s | 10 s | 4.3 s |",
    "doctor --ttl 10s --termination-timeout 3s",
    1,
    "survive an outage of 4s300ms",
  ],
  ["maintenance.md", "A new run exits with 75", ["drain all --yes", "run --lock a -- true"], 75, ""],
  [
    "maintenance.md",
    "A group that does not exist is refused (78)",
    "drain group g --yes",
    78,
    'no group "g"',
  ],
  [
    "maintenance.md",
    "Any other unknown name is drained, with a note",
    "drain host h --yes",
    0,
    'no host "h" is known so far',
  ],
  ["etcd.md", "refuse other clusters (78)", "run --cluster-id 1 --lock a -- true", 78, "but clusterId is 1"],
  [
    "etcd.md",
    "these settings with an `http://` endpoint, are refused (78)",
    "run --cacert <x> --lock a -- true",
    78,
    "does not use TLS",
  ],
  [
    "containers.md",
    "`-d` and `--restart` are refused",
    "run --lock a --container -- docker run -d x",
    64,
    "-d: the container could run",
  ],
  [
    "containers.md",
    "so are `exec`, `start`, `compose`, a shell",
    "run --lock a --container -- docker exec x",
    64,
    "without a shell",
  ],
  [
    "worker.md",
    "A file that everybody can write is refused",
    "worker --handlers <!handlers: []>",
    78,
    "every user can change it",
  ],
  [
    "worker.md",
    "A line that needs a shell is refused",
    "worker --handlers <handlers: [{type: a, command: 'a | b'}]>",
    78,
    "needs a shell",
  ],
  [
    "worker.md",
    "numbers are refused",
    "worker --handlers <users: ['1000']>",
    78,
    "is not the name of a user",
  ],
  ["worker.md", "how many to follow, at most 10", `${HTTP}redirects: 11}}]>`, 78, "from 0 to 10"],
  [
    "worker.md",
    "`GET`, `HEAD`, `POST`, `PUT`, `PATCH`, `DELETE`",
    `${HTTP}method: PUSH}}]>`,
    78,
    "is not one of GET",
  ],
  [
    "cron-texts.md",
    "`H`, `~`, and dates that never come",
    "schedule next 'H 3 * * *'",
    64,
    "H is not supported",
  ],
  [
    "cron-texts.md",
    "such as the 30th of February, are refused",
    "schedule next '0 0 30 2 *'",
    64,
    "never fires",
  ],
  [
    "cron-texts.md",
    "a list, of at most 20 texts",
    `schedule add a ${repeat(21, (at) => `--cron '${at} 3 * * *'`)} -- true`,
    64,
    "at most 20 cron texts; got 21",
  ],
  [
    "cron-texts.md",
    "`@every DURATION` (one second or more)",
    "schedule add a '@every 500ms' -- true",
    64,
    "at least 1s",
  ],
  [
    "cron-texts.md",
    "`@every`, `@after-end`, `@reboot`, `@at` and `@manual` stand alone",
    "schedule add a --cron '@every 5m' --cron @daily -- true",
    64,
    "must stand alone",
  ],
  [
    "cron-texts.md",
    "Six fields are refused without `--seconds`",
    "schedule add a '* * * * * *' -- true",
    64,
    "add --seconds",
  ],
  [
    "cron-texts.md",
    "that the clocks skip is the end of the gap",
    "schedule next '30 2 * * *' --timezone Europe/Berlin --from 2026-03-29T02:30",
    0,
    "taken for 2026-03-29T03:00+02:00",
  ],
  [
    "schedules.md",
    "You cannot delete a schedule that has followers",
    [...ADD_PAIR, "schedule delete a --yes"],
    64,
    '"b" follows it',
  ],
  ["schedules.md", "but not in a cycle", [...ADD_PAIR, "schedule edit a --after b"], 78, "that is a cycle"],
  [
    "schedules.md",
    "follow 100 schedules",
    `schedule add a --after ${Array.from({ length: 101 }, (_, at) => at)} -- true`,
    78,
    "at most 100",
  ],
  [
    "schedules.md",
    "The schedule can neither follow another one",
    "schedule add a @daily --on every-host --after b -- true",
    78,
    "cannot follow another one",
  ],
  [
    "schedules.md",
    "at most 10,000",
    [
      "schedule add a '* * * * *' -- true",
      "schedule backfill a --from 2026-01-01T00:00Z --to 2026-02-01T00:00Z --yes",
    ],
    64,
    "at most 10000",
  ],
  ["schedules.md", "`--keep N` (1 to 100)", "schedule add a @daily --keep 101 -- true", 64, "from 1 to 100"],
  [
    "schedules.md",
    "(at most 8 KiB)",
    ["schedule add a @manual -- true", `schedule trigger a --data '"${"x".repeat(8192)}"'`],
    64,
    "at most 8192",
  ],
  [
    "calendars.md",
    "A new schedule that would never fire is refused",
    [EVERY_DAY, "schedule add a @daily --except c -- true"],
    64,
    "would never fire",
  ],
  [
    "calendars.md",
    "after an edit, a message says so",
    [EVERY_DAY, "schedule add a @daily -- true", "schedule edit a --except c"],
    0,
    "it never fires again",
  ],
  [
    "calendars.md",
    "needs `--ignore-calendar` on an excluded day",
    [EVERY_DAY, "schedule add a @daily -- true", "schedule edit a --except c", "schedule trigger a"],
    64,
    "add --ignore-calendar",
  ],
  [
    "gitops.md",
    "`apply` lists it and does nothing (exit code 78)",
    ["resource set r 2", "apply <resources: [{name: r, total: 1}]> --owner team --yes"],
    78,
    '"r" exists already',
  ],
  [
    "gitops.md",
    "the command stops (exit code 75)",
    ["resource set r 2", "apply <resources: [{name: r, total: 1}]> --expect-revision 1 --yes"],
    75,
    "has changed meanwhile",
  ],
  [
    "crontabs.md",
    "random ranges with `~`",
    "schedule import crontab <~ 3 * * * a>",
    78,
    "~ is not supported",
  ],
  [
    "crontabs.md",
    "flags of OpenBSD's cron",
    "schedule import crontab <0 3 * * * -n a>",
    78,
    "a flag of OpenBSD's cron",
  ],
  ["crontabs.md", "exit code 1 if anything", "schedule diff crontab <0 3 * * * a>", 1, "would be added"],
  [
    "crontabs.md",
    "**Lines that take a lock** are left out",
    "schedule import crontab <0 3 * * * signalbox run -- a>",
    0,
    "it is not imported",
  ],
  [
    "migrate.md",
    "`--help`** alone, under the name of an old tool",
    "cronlock --help",
    0,
    "run a command as cronlock does",
  ],
  [
    "migrate/other-schedulers.md",
    "years must be `*`",
    "schedule import crontab --format supercronic <0 3 * * * 2027 a>",
    78,
    "a schedule has no years",
  ],
  [
    "hooks.md",
    "After ten seconds, it and its descendants get TERM",
    "hook test 'sleep 60'",
    1,
    "its timeout has passed",
  ],
  [
    "when-etcd-fails.md",
    "mails the message of each run that gives up, even with `-E 0`",
    "run -E 0 --endpoints http://127.0.0.1:1 --connect-timeout 1s --lock a -- true",
    69,
    "cannot reach etcd",
  ],
  [
    "when-etcd-fails.md",
    "UNKNOWN; `doctor`: CRITICAL",
    "check hosts --nagios --endpoints http://127.0.0.1:1 --connect-timeout 1s",
    3,
    "UNKNOWN",
  ],
  [
    "monitoring.md",
    "The code is 3, unknown, if the configuration is wrong",
    "check hosts --nagios -c /no/such",
    3,
    "UNKNOWN",
  ],
  ["install.md", '"readOnly": true', 'resource set r 1 -c <{"readOnly": true}>', 77, "readOnly is set"],
];

describe.concurrent("pages", () => {
  test.each(CASES)("%s: %s", async (page, sentence, lines, code, message) => {
    expect(readFileSync(join(DOCS, page), "utf8").replaceAll(/\s+/g, " ")).toContain(sentence);
    const namespace = cluster.createNamespace();
    const all = [lines].flat();
    for (const line of all.slice(0, -1)) expect(await namespace.execute(line)).toExit(0);
    const last = all
      .at(-1)
      ?.replace(/<(!?)(.*)>/, (_, open, content) =>
        cluster.createPath(`${content}\n`, open === "" ? 0o600 : 0o666),
      );
    const { code: found, stdout, stderr } = await namespace.execute(last ?? "");
    expect(found, stderr).toBe(code);
    expect(stdout + stderr).toContain(message);
  });
});
