/** Typical lines of crontabs, and the findings from their text alone. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createTestFolder } from "../../../../../fixtures/test-folder.ts";
import { readJobs } from "../../../../../src/cli/commands/check/crontab/read.ts";
import { judgeJobs } from "../../../../../src/cli/views/checks/crontab.ts";
import { resolveConfig } from "../../../../../src/core/config/config.ts";

const SETTINGS = resolveConfig({ readFile: () => undefined }).values;
const folder = createTestFolder(afterAll);

const read = (text: string, path = "jobs") =>
  readJobs({ path, text, format: undefined }, { settings: SETTINGS, home: folder });

/** What is wrong with one line, level first; hints included. */
const findings = (line: string, path?: string) => {
  const { jobs, findings: textual } = read(`${line}\n`, path);
  return [...textual, ...judgeJobs(jobs, undefined, new Set())].map(
    ({ level, detail }) => `${level}: ${detail}`,
  );
};

test.each([
  ["* * * * * signalbox run --lock invoices -- ./invoices.sh"],
  ["*/5 * * * * cd /srv/app && signalbox run -g web -E 0 --grace 50s -- ./rotate.sh >/dev/null 2>&1"],
  ["@hourly /usr/bin/signalbox run --wait=10m --lock backup -- ./backup.sh"],
  ["0 3 * * * root signalbox run --lease FQDN_mem='4:int(4096/1024)' -- ./crunch"],
  ["0 3 * * * signalbox run --lease db=2:10 --lease FQDN_x=1:4 -- ./report.sh"],
  ["0 3 * * * signalbox run --lease db=2 -- ./report.sh"], // its total may be configured
  ["* * * * * SIGNALBOX_TTL=60s signalbox run --termination-timeout 40s -- ./x"],
  ["* * * * * signalbox run --lock x-$(hostname) -- ./x"],
  ["* * * * * signalbox run --lease db=$N:10 --wait=$W --ttl $T -- ./x"],
  ["* * * * * signalbox run --lock a -- date +\\%F"],
  ["* * * * * signalbox run -h"],
  ["* * * * * signalbox run --user app --password-file /root/secret -- ./x"],
  ["* * * * * other-tool --strange 'words"],
  ["* * * * * echo 100%"],
  ["# * * * * * signalbox run --lokc a -- b"],
  ["* * * * * flock -n /var/lock/cronlock ./x"],
  ["* * * * * /bin/which cronlock; grep golock /var/log/x"],
  ["* * * * * signalbox schedule add x --cron @daily -- /bin/true"],
  ["* * * * * signalbox --context prod schedule add x --cron @daily -- /bin/true"],
  ["* * * * * switchmate run; signalfx run; git log -- x"],
  ["* * * * * signalbox run --lock a -- x\n*/2 * * * * signalbox run --lock a -- x"],
  ["LANG=C.UTF-8\n* * * * * signalbox run --lock a -- echo größer"],
  ["# “curly” – in a comment\n* * * * * signalbox run --lock a -- x"],
])("fine: %s", (line) => {
  expect(findings(line)).toEqual([]);
});

describe("faults and hints", () => {
  test.each([
    ["* * * * * signalbox run --lokc a -- b", /^failure: unknown option "--lokc".*did you mean --lock/],
    ["* * * * * ssh web1 'signalbox run --lokc a -- b'", /^failure: unknown option "--lokc"/],
    ["* * * * * signalbox run ./x", /^failure: unexpected argument "\.\/x"; put -- before/],
    ["* * * * * signalbox run --lock a --", /^failure: COMMAND is missing/],
    ["* * * * * signalbox run --lock a --no-lock -- b", /^failure: --lock and --no-lock exclude/],
    ["* * * * * signalbox run --no-lock -- b", /^failure: --no-lock needs --lease/],
    ["* * * * * signalbox run --wait=5 -- b", /^failure: --wait: "5" has no unit/],
    ["* * * * * signalbox run --ttl soon -- b", /^failure: --ttl: "soon" is not a duration/],
    ["* * * * * SIGNALBOX_TTL=soon signalbox run -- b", /^failure: SIGNALBOX_TTL: "soon"/],
    ["* * * * * signalbox run --ttl 12s -- b", /^failure: terminationTimeout 10s.*does not fit into ttl 12s/],
    ["* * * * * signalbox run -E 300 -- b", /^failure: --busy-exit-code: "300"/],
    ["* * * * * signalbox run -c /no/such.json -- b", /^failure: \/no\/such.json does not exist/],
    ["* * * * * signalbox run --lease db -- b", /^failure: --lease "db": write it as/],
    ["* * * * * signalbox run --lease db=0:3 -- b", /^failure: --lease "db=0:3": count: "0" is 0/],
    ["* * * * * signalbox run --lease db=4:3 -- b", /^failure: --lease asks for 4 units.*its total is 3/],
    ["* * * * * signalbox run --lease 'db=1:MEMMB/' -- b", /^failure: --lease .*a number is missing/],
    ["* * * * * signalbox run --lease db=1:DISKS -- b", /^failure: --lease .*there is no macro "DISKS"/],
    ["* * * * * signalbox run --lease db=1:2 --lease db=1:3 -- b", /^failure: .*state the same one/],
    ["* * * * * signalbox run -- 'x", /^failure: the shell cannot parse the command: a quote/],
    [
      "* * * * * signalbox run --lock a -- x > /tmp/x.$(date +%F)",
      /^warning: cron ends the command at the first %/,
      /^failure: the shell cannot parse the command/,
    ],
    ["* * * * * signalbox run --lock a -- x +%F", /^warning: cron ends the command at the first %/],
    ["* * * * * /opt/dump > /srv/dump-$(date +%F)", /^warning: cron ends the command at the first %/],
    ["0 3 31 2 * signalbox run -- x", /^failure: it never fires/],
    ["0 3 29 2 * signalbox run -- x", /^warning: it fires only in leap years/],
    ["0 25 * * * signalbox run -- x", /^failure: hour "25"/],
    ["* * * * signalbox run -- x", /^failure: day of the week "signalbox"/, /^failure: .*|./],
    ["* * * * * signalbox run $OPTS -- x", /^hint: the options are known only after the shell expands them/],
    ["* * * * * chronic signalbox run -- x", /^hint: chronic treats exit code 75 as a failure/],
    ["* * * * * signalbox run -- x || mail ops", /^hint: \|\| treats exit code 75 as a failure/],
    ["* * * * * switchman -g web -- /opt/x", /^hint: as signalbox: signalbox run -E 0 -g web -- \/opt\/x/],
    ["* * * * * switchman -- x a", /as signalbox: signalbox run -E 0 -- x a$/],
    ["* * * * * switchman -c s.conf --lockname l x -g web 'b c'", /run -E 0 --lock l -g web -- x 'b c'$/],
    ["* * * * * switchman --no-lock -- x", /run -E 0 --no-lock --lease no-lock:x=1:1000000 -- x$/],
    [
      "* * * * * switchman --lease FQDN_cpu=1:CPU --lease 'm=4:int(8/2)' -- x",
      /run -E 0 --lease FQDN_cpu=1:CPU --lease 'm=4:int\(8\/2\)' -- x$/,
    ],
    [
      "* * * * * switchman --lockname $(hostname) -- x",
      /^hint: as signalbox, except for parts that the shell .*'?\$\(\.\.\.\)'?/,
    ],
    ["* * * * * switchman --gruop web -- x", /^failure: switchman: unknown option "--gruop"/],
    ["* * * * * switchman --lease db=9:3 -- x", /^hint/, /^warning: --lease asks for 9 units/],
    ["* * * * * switchman --lease 'db=1:2**3' -- x", /^hint/, /^warning: --lease/],
    ["* * * * * CRONLOCK_GRACE=5 cronlock ./x", /^hint: 1 line of cronlock was not checked$/],
    ["* * * * * cd /srv && nice signalbox golock ./x", /^hint: 1 line of golock was/],
    ["* * * * * root /usr/local/bin/zoo-locked a:2379 /locks/x ./x", /^hint: 1 line of zoo-locked was/],
    ["* * * * * sudo -u www cronlock ./x", /^hint: 1 line of cronlock was/],
    ["* * * * * cronlock a\n* * * * * golock a", /^hint: 2 lines of cronlock, golock were not checked$/],
    ["* * * * * signalbox rnu --lock a -- x", /^failure: "rnu" is not a command.*signalbox run\?/],
    ["* * * * * signalbox --lock a -- x", /^failure: "--lock" is not a command.*signalbox run\?/],
    ["* * * * * cd /srv && nice signalbx run -- x", /^failure: "signalbx" is not.* did you mean signalbox\?/],
    ["* * * * * switchmna -g web -- x", /^failure: "switchmna" is not.* did you mean switchman\?/],
    ["* * * * * signalbox run --lock “a” -- x", /^warning: it has a typographic quote \(U\+201C\)/],
    ["* * * * * x –lock a", /^warning: it has a dash that is not a minus \(U\+2013\)/],
    ["* * * * * x\u00a0y", /^warning: it has a blank that is not a space \(U\+00A0\)/],
    ["* * * * * x\u200b y", /^warning: it has an invisible character \(U\+200B\)/],
    ["* * * * * echo größer\n* * * * * echo grün", /^hint: it has .* such as "ö"/, /^hint: .*"ü"/],
    [
      "0 3 * * * /bin/x\n#\n0  3 * * * /bin/x",
      /^warning: it is the same as line 1: cron starts the command twice$/,
    ],
    ["* * * * * signalbox switchman -g web -- /opt/x", /^hint: as signalbox: signalbox run -E 0 -g web/],
  ])("%s", (line, ...found) => {
    const told = findings(line);
    expect(told).toHaveLength(line.startsWith("* * * * signalbox") ? 1 : found.length);
    for (const [index, text] of told.entries()) expect(text).toMatch(found[index] ?? /never/);
  });

  test("a process that the lock does not cover", () => {
    expect(findings("* * * * * signalbox run --lock a -- sh -c './server &'")).toEqual([
      "warning: ./server & continues when the command has ended, and the lock does not cover it",
    ]);
    for (const line of [
      "* * * * * signalbox run --lock a -- sh -c './a & ./b & wait'",
      "* * * * * signalbox run --kill-leftovers --lock a -- sh -c './server &'",
      "* * * * * ./server &", // as cron has it
    ])
      expect(findings(line)).toEqual([]);
  });

  test("a byte-order mark, which cron refuses", () => {
    expect(findings("\ufeff* * * * * signalbox run --lock a -- true")).toEqual([
      expect.stringMatching(/^failure: the file begins with a byte-order mark/),
    ]);
    expect(read("\ufeff* * * * * true\n")).toMatchObject({ count: 1, findings: [{ level: "warning" }] });
  });

  test("a user where none belongs, and none where one does", () => {
    const three = "* * * * * /bin/a\n* * * * * root signalbox run -- x\n* * * * * /bin/b\n";
    expect(read(three).findings).toMatchObject([
      { check: "jobs:2", level: "failure", detail: expect.stringContaining('command is "root"') },
    ]);
    const two = "* * * * * /bin/a\n* * * * * root signalbox run -- x\n";
    expect(read(two).findings, "one says this, one says that").toMatchObject([
      {
        check: "jobs",
        level: "warning",
        detail: expect.stringContaining("line 2 has a user before the command, and line 1 has none"),
      },
      {
        check: "jobs:1",
        level: "failure",
        detail: expect.stringMatching(/the user is missing: .*"\/bin\/a" is not a user/),
      },
    ]);
    const missing = read("* * * * * signalbox run -- x\n", "/etc/cron.d/jobs").findings;
    expect(missing).toMatchObject([
      { level: "failure", detail: expect.stringContaining("the user is missing") },
    ]);
  });

  test("files that cron does not read as they are", () => {
    expect(read("* * * * * root signalbox run -- x\n", "/etc/cron.d/jobs.cron").findings).toMatchObject([
      {
        check: "/etc/cron.d/jobs.cron",
        level: "warning",
        detail: expect.stringMatching(/ignores files in cron.d/),
      },
    ]);
    const etc = join(folder, "cron.d");
    mkdirSync(etc);
    for (const name of ["jobs", "php.cron", "old.dpkg-old"]) writeFileSync(join(etc, name), "");
    chmodSync(join(etc, "jobs"), 0o666);
    const judge = (name: string) =>
      read("* * * * * root /bin/true\n", join(etc, name)).findings.map(
        ({ level, detail }) => `${level}: ${detail}`,
      );
    expect(judge("jobs")).toEqual([expect.stringMatching(/^warning: cron ignores files.*its mode is 0666$/)]);
    expect(judge("php.cron")).toEqual([expect.stringMatching(/^warning: .*ignores files in cron.d/)]);
    expect(judge("old.dpkg-old")).toEqual([expect.stringMatching(/^hint: .*ignores files in cron.d/)]);
    expect(read("* * * * * signalbox run -- x").findings).toMatchObject([
      { check: "jobs:1", level: "failure", detail: expect.stringContaining("newline") },
    ]);
  });

  test("the settings are those of the line: crontab, configuration file, flags", () => {
    const config = join(folder, "config.json");
    writeFileSync(config, '{"ttl": "40s", "grace": "1m", "group": "web", "macros": {"DISKS": 3}}');
    const text = `SIGNALBOX_CONFIG=${config}\nSIGNALBOX_GRACE=2m\n* * * * * signalbox run --ttl 50s --lease db=1:DISKS -- x\n`;
    const { jobs, findings: found } = read(text);
    expect(found).toEqual([]);
    expect(judgeJobs(jobs, undefined, new Set())).toEqual([]);
    expect(jobs).toMatchObject([
      { ttl: 50_000, grace: 120_000, group: "web", locks: [{ name: "x", isNamed: false }] },
    ]);
  });

  test("lines for another etcd are known by their prefix or endpoints", () => {
    const text =
      "* * * * * signalbox run --prefix /other/ -- x\n* * * * * signalbox run --prefix /signalbox/ -- y\n";
    expect(read(text).jobs.map(({ isElsewhere }) => isElsewhere)).toEqual([true, false]);
  });
});
