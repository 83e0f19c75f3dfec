/**
 * Shapes of lines of thirty public crontabs: of distributions, BSDs, containers, web frameworks, dotfiles and other crons. Each keeps
 * its meaning, or the import says why not. With --strict, what is said is refused.
 */
import { describe, expect, it } from "vitest";
import {
  type CrontabImportOptions,
  convertCrontab,
} from "../../../../../src/cli/commands/schedule/crontab.ts";
import { guessCrontabFormat } from "../../../../../src/cli/syntax/crontab.ts";

const TERMS: Omit<CrontabImportOptions, "format"> = {
  timezone: "UTC",
  source: "crontab:shapes",
  prefix: "",
  catchup: "latest",
  overlap: "forbid",
  isStrict: false,
  now: Date.UTC(2026, 10, 30),
};

function convert(text: string, terms: Partial<CrontabImportOptions> = {}) {
  const { format } = guessCrontabFormat("tab", text);
  const { definitions, faults, notes } = convertCrontab(text, { ...TERMS, format, ...terms });
  return { format, imported: [...definitions.values()], faults, notes };
}

const shell = (command: string, interpreter = "/bin/sh") => [interpreter, "-c", command];

describe("keeps its meaning", () => {
  it.each([
    [
      "tabs, and no blanks around the user",
      "1,31\t0-5\t*\t*\t*\tann\tadjust -a\n",
      { cron: "1,31 0-5 * * *" },
    ],
    [
      "a home of its own, which is its folder too",
      "HOME=/var/log\n0 * * * * rotate\n",
      { folder: "~", env: { HOME: "/var/log" } },
    ],
    [
      "a shell in quotes",
      'SHELL="/opt/panel/shell"\n0 2 * * * php job.php\n',
      { command: shell("php job.php", "/opt/panel/shell") },
    ],
    [
      "bash redirects both streams",
      "SHELL=/bin/bash\n0 6 * * * . ~/.env && ./load.sh &>> /dev/null\n",
      { command: shell(". ~/.env && ./load.sh &>> /dev/null", "/bin/bash") },
    ],
    [
      "a random wait",
      "7 */4 * * * bash -c 'sleep $((60 + RANDOM \\% 241))' && job\n",
      { command: shell("bash -c 'sleep $((60 + RANDOM % 241))' && job") },
    ],
    [
      "variables in the program",
      "APP=/srv/app\n* * * * * env QUIET=1 $APP/worker Import::Job\n",
      { command: shell("env QUIET=1 $APP/worker Import::Job"), env: { APP: "/srv/app" } },
    ],
    [
      "a login shell with quotes",
      "0 * * * * /bin/sh -lc 'cd /opt/a && bundle exec rake b:c' > /dev/null 2>&1\n",
      { folder: "~", input: "" },
    ],
    [
      "envdir",
      "0 0 * * * /usr/bin/envdir /etc/wal/env /usr/local/bin/backup.sh\n",
      { command: shell("/usr/bin/envdir /etc/wal/env /usr/local/bin/backup.sh") },
    ],
    [
      "the names of streams",
      "* * * * * /srv/job > /dev/stdout 2> /dev/stderr\n",
      { command: shell("/srv/job > /dev/stdout 2> /dev/stderr") },
    ],
    ["a minus sign of SUSE", "-*/15 * * * * /usr/lib/a >/dev/null\n", { cron: "*/15 * * * *" }],
    ["two days, either of which is enough", "14 14 14 2 5 /bin/bash /srv/a.sh\n", { cron: "14 14 14 2 5" }],
    [
      "an assignment before the program",
      "@daily ID=nightly /srv/a\n",
      { command: shell("ID=nightly /srv/a") },
    ],
    ["who it runs as", "0 1 * * * root /home/$USER/a.sh $LOGNAME\n", { runAs: "root" }],
    [
      "the shell that cron names",
      "SHELL=/bin/bash\n0 1 * * * exec $SHELL -c a.sh\n",
      { env: { SHELL: "/bin/bash" } },
    ],
    [
      "a program of containers before the command",
      "*/5 * * * * su-exec web job --quiet\n",
      { command: shell("su-exec web job --quiet") },
    ],
  ])("%s", (_, text, expected) => {
    const { imported, faults, notes } = convert(text);
    expect(faults).toEqual([]);
    expect(notes).toEqual([]);
    expect(imported).toMatchObject([expected]);
  });

  it("an address that the line uses itself", () => {
    const { imported } = convert("MAILTO=ops@example.com\n0 1 * * * /srv/report | mail -s report $MAILTO\n");
    expect(imported).toMatchObject([
      { env: { MAILTO: "ops@example.com" }, hooks: { failure: "mailto:ops@example.com" } },
    ]);
  });

  it("seconds, years and intervals of supercronic", () => {
    const { format, imported } = convert(
      "*/10 * * * * * * /app/poll\n@every 90s /app/sweep\n0 3 * * * /app/nightly\n",
    );
    expect(format).toBe("supercronic");
    expect(imported.map(({ cron }) => cron)).toEqual(["@seconds */10 * * * * *", "@every 90s", "0 3 * * *"]);
  });
});

describe("changes its meaning, which is said", () => {
  it.each([
    [
      "the output of a container's first process",
      "* * * * * /srv/job >> /proc/1/fd/1 2>&1\n",
      '"/proc/1/fd/1", which belongs to',
    ],
    ["a terminal", "* * * * * /srv/job > /dev/tty1\n", '"/dev/tty1", which belongs to'],
    [
      "a log on the host",
      "* * * * * cd /app && job >> /var/log/app.log 2>&1\n",
      '"/var/log/app.log" on whichever host',
    ],
    ["limits", "0 1 * * * ulimit -n 65536; job\n", "ulimit: the limits"],
    ["names of its user", "0 1 * * * $HOME/job $USER\n", "LOGNAME and USER are those of the worker"],
    ["a session", "0 1 * * * systemctl --user restart sync\n", "a session of its user"],
    ["a bus", "0 1 * * * DISPLAY=:0 notify $DBUS_SESSION_BUS_ADDRESS\n", "a session of its user"],
    ["mail", "MAILTO=root\n0 1 * * * job\n", "cron also mails what runs that succeed write"],
    ["a mark at the beginning", "\ufeff0 1 * * * job\n", "byte-order mark"],
    ["no line break at the end", "0 1 * * * job", "the last line does not end in a newline"],
    ["a relative path of supercronic", "@every 5m ./poll.sh\n", '"./poll.sh" is relative'],
    ["a daemon at boot", "@reboot /srv/daemon\n", "what it leaves in the background ends with it"],
  ])("%s", (_, text, why) => {
    const { imported, faults, notes } = convert(text);
    expect(faults).toEqual([]);
    expect(imported).toHaveLength(1);
    expect(notes.map(({ detail }) => detail)).toContainEqual(expect.stringContaining(why));
    const strict = convert(text, { isStrict: true });
    expect(strict.faults.map(({ detail }) => detail)).toContainEqual(expect.stringContaining(why));
  });

  it.each([
    ["a log on every host", { on: "every-host" as const }],
    ["a log on the hosts of a group", { group: "web" }],
  ])("but not %s", (_, terms) => {
    expect(convert("* * * * * /srv/job >> /var/log/app.log\n", terms).notes).toEqual([]);
  });
});

it.each([
  ["&>> of a POSIX shell", "15 6 * * * load.sh &>> /dev/null\n", "/bin/sh reads &>> as & and >"],
  ["a daemon", "@reboot cd /srv && nohup ./a > /dev/null 2>&1 &\n", "leaves a process in the background"],
  ["a lock", "* * * * * flock -n /tmp/l job\n", "takes a lock with flock"],
])("stays with cron, which is said: %s", (_, text, why) => {
  const { imported, notes } = convert(text);
  expect(imported).toEqual([]);
  expect(notes.map(({ detail }) => detail)).toContainEqual(expect.stringContaining(why));
  expect(convert(text, { isStrict: true }).faults).toContainEqual({
    line: 1,
    detail: expect.stringContaining(why),
  });
});

it.each([
  ["six fields that begin with a second", "*/6 * * * * * echo a\n", "the schedule has 6 fields"],
  ["flags of OpenBSD", "0 9 * * * -ns sleep 5 && job\n", "begins with -ns, a flag of OpenBSD's cron"],
  ["a zone before the fields", "CRON_TZ=Asia/Tokyo 0 1 * * * job\n", "all of it is the value of CRON_TZ"],
  ["TZ before the fields", "TZ=UTC */5 * * * * job\n", "all of it is the value of TZ"],
  ["no fields at all", "cd /srv && job\n", "neither a schedule of five fields nor a variable"],
  ["frequencies of fcron", "% daily * 2-5 job\n", 'minute "%"'],
  ["options of fcron", "&bootrun 0 1 * * * job\n", 'minute "&bootrun"'],
  ["hashes of Jenkins", "H H * * * job\n", 'minute "H"'],
  ["line breaks of DOS", "0 1 * * * job\r\n", "carriage return"],
  ["a day that never comes", "0 0 31 4 * job\n", "it never fires"],
])("is refused: %s", (_, text, why) => {
  expect(convert(text).faults.map(({ detail }) => detail)).toContainEqual(expect.stringContaining(why));
});

describe("strict", () => {
  it("takes what means the same, also what cron itself reads oddly", () => {
    const text = 'MAILTO=""\nTZ=Asia/Tokyo\nPATH=$PATH:/opt/bin\n0 1 * * * date +%F\n';
    expect(convert(text, { isStrict: true })).toMatchObject({ faults: [], imported: [{ input: "F\n" }] });
  });

  it("refuses a line whose output cron mails to its user", () => {
    expect(convert("0 1 * * * job\n", { isStrict: true }).faults).toEqual([
      { line: 1, detail: expect.stringMatching(/^no MAILTO: .* write MAILTO=""/) },
    ]);
    expect(convert("0 1 * * * job > /dev/null 2>&1\n", { isStrict: true }).faults).toEqual([]);
  });
});
