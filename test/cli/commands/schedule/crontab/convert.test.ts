/** Conversion of a crontab to schedules: results of lines, refused lines, and stable ids. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  buildCommandSlug,
  type CrontabImportOptions,
  convertCrontab,
  formatScheduleCrontab,
} from "../../../../../src/cli/commands/schedule/crontab.ts";

const ODD = readFileSync(new URL("./fixtures/odd.crontab", import.meta.url), "utf8");
const TERMS: CrontabImportOptions = {
  format: "user",
  timezone: "UTC",
  source: "crontab:odd",
  prefix: "",
  group: undefined,
  catchup: "latest",
  overlap: "forbid",
  isStrict: false,
  now: Date.UTC(2026, 10, 22),
};

const convert = (text: string, terms: Partial<CrontabImportOptions> = {}) =>
  convertCrontab(text, { ...TERMS, ...terms });
const ids = (text: string, terms: Partial<CrontabImportOptions> = {}) => [
  ...convert(text, terms).definitions.keys(),
];
const only = (text: string, terms: Partial<CrontabImportOptions> = {}) => [
  ...convert(text, terms).definitions.values(),
];

it("runs each line on every host if asked, and then warns of none that maintains the host", () => {
  const text = "17 * * * * run-parts --report /etc/cron.hourly\n";
  const { definitions, notes } = convert(text, { on: "every-host", group: "web" });
  expect([...definitions.values()]).toMatchObject([{ on: "every-host", group: "web" }]);
  expect(notes).toEqual([]);
  expect(convert(text).notes).toMatchObject([{ detail: expect.stringContaining("--on one-host") }]);
  expect(only(text)[0]?.on).toBe("every-host");
  const { definitions: once, notes: warnings } = convert(text, { on: "one-host" });
  expect([...once.values()][0]?.on).toBeUndefined();
  expect(warnings).toMatchObject([{ detail: expect.stringContaining("it runs on one host each time") }]);
  expect(formatScheduleCrontab(definitions)).toContain("# for the crontab of every host");
});

describe("MAILTO", () => {
  const LINE = "0 1 * * * report\n";

  it.each([
    ["MAILTO=ops@example.com", { failure: "mailto:ops@example.com" }],
    ['MAILTO="root, dba"', { failure: "mailto:root,dba" }],
    ['MAILTO=""', undefined],
    ["MAILTO=", undefined],
    ["MAILTO=-bcc@example.com", undefined],
    ["# no variable", undefined],
  ])("%s becomes a hook of failures", (variable, hooks) => {
    expect(only(`${variable}\n${LINE}`)[0]?.hooks).toEqual(hooks);
  });

  it("applies to the lines below it, and ends with an empty one", () => {
    const text = `0 1 * * * a\nMAILTO=ann\n0 1 * * * b\nMAILTO=""\n0 1 * * * c\n`;
    const found = convert(text);
    expect([...found.definitions.values()].map(({ hooks }) => hooks?.failure)).toEqual([
      undefined,
      "mailto:ann",
      undefined,
    ]);
    expect(found.notes.map(({ line }) => line)).toEqual([3]);
    const again = convert(formatScheduleCrontab(found.definitions));
    const listHooks = ({ definitions }: typeof found) =>
      [...definitions].map(([id, { hooks }]) => [id, hooks]);
    expect(listHooks(again)).toEqual(listHooks(found));
  });

  it("says when it has no address that a mail can be sent to", () => {
    const [note] = convert(`MAILTO=-bcc@example.com\n${LINE}`).notes;
    expect(note?.detail).toContain('"-bcc@example.com" is not a list of addresses');
  });
});

describe("a crontab with every oddity", () => {
  const { definitions, faults, notes } = convert(ODD);
  const found = (slug: string) => [...definitions].find(([id]) => id.startsWith(`${slug}-`))?.[1];

  it("becomes a schedule a line", () => {
    expect(faults).toEqual([]);
    const names = [...definitions.keys()].map((id) => id.replace(/-[0-9a-z]{7}(?=$|-\d)/, ""));
    expect(names).toEqual([
      "db-dump",
      "clean-up",
      "rotate",
      "curl",
      "mail",
      "same",
      "same-2",
      "leap",
      "poll",
    ]);
  });

  it("keeps comments, variables, the shell, zones and spreads", () => {
    const env = { PATH: "/usr/local/bin:/usr/bin:/bin", GREETING: "hello  world" };
    const common = { catchup: "latest", overlap: "forbid", source: "crontab:odd" };
    expect(found("db-dump")).toEqual({
      cron: "30 2 * * *",
      timezone: "UTC",
      env,
      ...common,
      hooks: { failure: "mailto:ops@example.com" },
      command: ["/bin/bash", "-c", "/opt/bin/db-dump.sh --all > /dev/null 2>&1"],
      folder: "~",
      input: "",
      note: "Nightly dump of the database. Ask the data team before moving it.",
    });
    expect(found("clean-up")).toMatchObject({ cron: "15 4 1,15 * *", timezone: "UTC" });
    expect(found("clean-up")?.note).toBeUndefined();
    expect(found("rotate")).toMatchObject({ cron: "@daily", timezone: "Europe/Berlin", jitter: 45 * 60_000 });
    expect(found("same")?.note).toBeUndefined(); // a line that is switched off is no note
    expect(found("leap")).toMatchObject({ command: ["/bin/sh", "-c", "leap"], env: { GREETING: "" } });
    expect(found("poll")).toMatchObject({ cron: "* * * * *" });
  });

  it.each([
    [
      "with points and bars",
      "# Example of job definition:\n# .------- minute (0 - 59)\n# |  .---- hour (0 - 23)\n# |  |  |  |  |",
    ],
    ["with lines", "# ┌──────── minute (0 - 59)\n# │ ┌────── hour (0 - 23)"],
    ["of words", "# The fields:\n# m h dom mon dow command"],
  ])("takes the drawing of the fields %s for no note", (_, drawing) => {
    const head = `${drawing}\n# *  *  *  *  * user-name command to be executed\n`;
    expect(only(`${head}0 1 * * * report\n`)[0]?.note).toBeUndefined();
    expect(only(`${head}# For the | board.\n0 1 * * * report\n`)[0]?.note).toBe("For the | board.");
  });

  it("gives what follows % to the command", () => {
    expect(found("curl")?.command?.[2]).toBe("curl -fsS https://example.com/?a=100%25");
    expect(found("mail")).toMatchObject({
      command: ["/bin/bash", "-c", 'mail -s "Hello" ops'],
      input: "Good morning\n50% off\n",
    });
  });

  it("says what is not as cron has it", () => {
    expect(notes.map(({ line, detail }) => `${line}: ${detail.slice(0, 20)}`)).toEqual([
      "9: MAILTO: a run that f",
      "19: the command ends at ",
      "25: it fires only in lea",
    ]);
  });

  it("is one again after an export, but for variables", () => {
    const text = formatScheduleCrontab(definitions);
    const again = convert(text, { timezone: "Asia/Tokyo" });
    expect(again.faults).toEqual([]);
    const times = (all: typeof definitions) =>
      [...all.values()].map(({ cron, timezone }) => `${timezone} ${cron}`).sort();
    expect(times(again.definitions)).toEqual(times(definitions));
    const mail = [...again.definitions.values()].find(({ cron }) => String(cron).startsWith("0 8"));
    expect(mail?.input).toBe("Good morning\n50% off\n");
  });
});

it.each(["0 0 15W * *", "0 0 L-3 * *", "0 0 * * 5L", "0 22-2 * * *", "0 0 1 january *"])(
  "what cron does not know becomes a comment: %s",
  (cron) => {
    const definition = { cron, timezone: "UTC", command: ["/bin/true"] };
    const lines = formatScheduleCrontab(new Map([["job", definition]])).split("\n");
    expect(lines.filter((line) => line.includes("/bin/true"))).toEqual([`# ${cron} /bin/true`]);
    expect(lines).toContain("# cron does not understand this time:");
  },
);

describe("a line is refused with its reason", () => {
  it.each([
    ["61 * * * * x\n", 1, /minute/],
    ["* * * * *\n", 1, /no command/],
    ["0 0 30 2 * x\n", 1, /never/],
    ["CRON_TZ=Mars/Base\n0 0 * * * x\n", 2, /unknown time zone "Mars\/Base"/],
    ["RANDOM_DELAY=soon\n0 0 * * * x\n", 2, /RANDOM_DELAY/],
    ["nonsense\n", 1, /neither a schedule/],
    ["0 0 * * * x\r\n", 1, /carriage return/],
    ["@sometimes x\n", 1, /@sometimes/],
    ["*/5 * * * * * x\n", 1, /6 fields.*if it is a year.*--format supercronic; if the first is a second/],
  ] as const)("%j", (text, line, detail) => {
    const { faults } = convert(text);
    expect(faults.map((fault) => fault.line)).toContain(line);
    expect(faults.map((fault) => fault.detail).join("; ")).toMatch(detail);
  });

  it("and all that are bad are told", () => {
    const { faults, definitions } = convert("@sometimes a\n0 0 * * * fine\n99 * * * * b\n");
    expect(faults.map(({ line }) => line)).toEqual([1, 3]);
    expect(definitions.size).toBe(1);
  });
});

describe("a line stays in the crontab, and that is said", () => {
  const left = (line: string, terms: Partial<CrontabImportOptions> = {}) => {
    const { definitions, faults, notes } = convert(`0 1 * * * fine\n${line}\n`, terms);
    expect([definitions.size, faults]).toEqual([1, []]);
    expect(notes.map((note) => note.line)).toEqual([2]);
    return notes[0]?.detail;
  };

  it.each([
    ["* * * * * signalbox run --lock x -- job", "the line uses signalbox run"],
    ["* * * * * cd /x && nice /usr/bin/signalbox run -- job", "the line uses signalbox run"],
    ["* * * * * signalbox --context prod run -- job", "the line uses signalbox run"],
    ["* * * * * my-wrapper signalbox run -- job", "the line uses signalbox run"],
    ["* * * * * signalbox cronlock job", "a lock with cronlock"],
    ["* * * * * ssh web1 'flock -n /x job'", "a lock with flock"],
    [
      "* * * * * flock -n /x job",
      "a lock with flock: it is not imported; convert it with signalbox migrate crontab",
    ],
    ["* * * * * sudo -u me setlock -n /x job", "a lock with setlock"],
    ["* * * * * bash -lc 'cd /x && flock -n /x job'", "a lock with flock"],
    ["* * * * * chpst -u me -L /x job", "a lock with chpst"],
    ["* * * * * switchman -- job", "a lock with switchman"],
    ["* * * * * lockrun --lockfile=/x -- job", "a lock with lockrun"],
    ["* * * * * run-one job a", "a lock with run-one"],
    ["* * * * * withlock /run/x /opt/job", "a lock with withlock"],
  ])("%s", (line, detail) => {
    expect(left(line)).toMatch(detail);
  });

  it.each([
    "nohup ./server &",
    "setsid ./server",
    "[ -s pid ] || { ./server & echo $! > pid; }",
    "screen -dmS x ./server",
    "start-stop-daemon --start --background --exec /opt/server",
  ])("%s, because a worker would end what it leaves in the background", (command) => {
    for (const times of ["* * * * *", "@reboot"])
      expect(left(`${times} ${command}`)).toMatch(/in the background.*until then it is not imported/);
  });

  it.each(["job --flock", "echo flock", "chpst -u me job", "consul kv get lock", "clock /a /b", "db-lock x"])(
    "%s takes no lock",
    (command) => {
      expect(convert(`0 1 * * * ${command}\n`)).toMatchObject({ faults: [], notes: [] });
    },
  );
});

describe("a line is imported, and something said of it", () => {
  it.each([
    ["17 * * * * cd / && run-parts --report /etc/cron.hourly", "maintain the host itself (run-parts)"],
    ["0 0 * * * test -x /usr/sbin/anacron || ( cd / && run-parts /etc/cron.daily )", "(run-parts)"],
    [
      "0 0 * * * /usr/sbin/logrotate /etc/logrotate.conf",
      "(logrotate): it becomes a schedule that runs on every host",
    ],
    ["0 0 * * * find /tmp -mtime +7 -delete", "(find /tmp)"],
    ["0 0 * * * nice rm -rf /var/cache/app/*", "(rm /var/cache/app"],
    ["0 0 * * * [ -x /usr/lib/php/sessionclean ] && /usr/lib/php/sessionclean", "(sessionclean)"],
  ])("%s", (line, detail) => {
    const { definitions, faults, notes } = convert(`${line}\n`);
    expect([definitions.size, faults]).toEqual([1, []]);
    expect(notes).toEqual([{ line: 1, detail: expect.stringContaining(detail) }]);
  });

  it.each(["find /srv/data -delete", "rm /srv/x", "docker exec app find /tmp -delete", "report /var/log"])(
    "%s is no such line",
    (command) => {
      expect(convert(`0 1 * * * ${command}\n`).notes).toEqual([]);
    },
  );

  it("lines that cron reads differently are imported with a note for each kind", () => {
    const { definitions, faults, notes } = convert("CRON_TZ=Europe/Berlin\n0,30 2 */2 * 0 a\n0 3 * * * b\n");
    expect([definitions.size, faults]).toEqual([2, []]);
    expect(notes).toEqual([
      { line: 2, detail: expect.stringMatching(/^"0,30 2 \*\/2 \* 0": days .* must both match/) },
      { line: 2, detail: expect.stringMatching(/^"0,30 2 .*: on 2027-10-31 .* it fires twice for 02:00/) },
    ]);
  });

  it("a file with a byte-order mark", () => {
    const { definitions, faults, notes } = convert("\ufeff0 1 * * * a\n");
    expect([[...definitions.values()].map(({ cron }) => cron), faults]).toEqual([["0 1 * * *"], []]);
    expect(notes).toEqual([{ line: 1, detail: expect.stringMatching(/byte-order mark.*it is imported/) }]);
  });

  it("a PATH that cron does not expand, once", () => {
    const { notes, definitions } = convert("PATH=$PATH:/opt/bin\n0 1 * * * a\n0 2 * * * b\n");
    expect(notes).toEqual([
      { line: 2, detail: expect.stringMatching(/^PATH: .*"\$PATH:\/opt\/bin" stays/), isAsInCron: true },
    ]);
    expect([...definitions.values()][0]?.env).toEqual({ PATH: "$PATH:/opt/bin" });
  });

  it("an interval of FreeBSD is one after the end of the last run", () => {
    expect(only("@3600 x\n")).toMatchObject([{ cron: "@after-end 1h" }]);
  });

  it("a file whose last line has no line break", () => {
    const { definitions, faults, notes } = convert("0 1 * * * a\n0 2 * * * b");
    expect([definitions.size, faults]).toEqual([2, []]);
    expect(notes).toEqual([
      { line: 2, detail: expect.stringMatching(/newline, so cron ignores.*it is imported/) },
    ]);
  });
});

describe("a crontab of supercronic", () => {
  const convertLine = (line: string) => convert(`${line}\n`, { format: "supercronic" });

  it.each([
    ["*/5 * * * * * * job", "@seconds */5 * * * * *"],
    ["0 0 3 * * mon * job", "0 3 * * mon"],
    ["*/5 * * * * * job", "*/5 * * * *"],
    ["*/5 * * * * job", "*/5 * * * *"],
    ["@every 90s job", "@every 90s"],
    ["@hourly job", "@hourly"],
  ])("%s", (line, cron) => {
    const { definitions, faults, notes } = convertLine(line);
    expect([faults, notes]).toEqual([[], []]);
    const [definition] = definitions.values();
    expect(definition).toMatchObject({ cron, command: ["/bin/sh", "-c", "job"], input: "" });
    expect(definition?.folder).toBeUndefined();
  });

  it("keeps percent signs, and needs no line break at the end", () => {
    const { definitions, notes } = convert("0 3 * * * date +%F", { format: "supercronic" });
    expect([...definitions.values()]).toMatchObject([{ command: ["/bin/sh", "-c", "date +%F"], input: "" }]);
    expect(notes).toEqual([]);
  });

  it.each([
    ["0 3 1 1 * 2027 job", /year "2027": a schedule has no years/],
    ["99 * * * * * * job", /second/],
    ["@every soon job", /soon/],
  ])("%s is refused", (line, detail) => {
    expect(convertLine(line).faults).toEqual([{ line: 1, detail: expect.stringMatching(detail) }]);
  });
});

describe("a system's crontab", () => {
  it("as distributions have it, with lines of one's own: what maintains the host, or runs at boot, is for every host", () => {
    const text = [
      "SHELL=/bin/sh",
      "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
      "17 *\t* * *\troot\tcd / && run-parts --report /etc/cron.hourly",
      "25 6\t* * *\troot\ttest -x /usr/sbin/anacron || { cd / && run-parts --report /etc/cron.daily; }",
      "@reboot\troot\t/opt/boot",
      "*/5 *\t* * *\troot\tflock -n /run/x /opt/locked",
      "0 3\t* * *\troot\t/opt/report",
    ];
    const { definitions, faults, notes } = convert(text.join("\n"), { format: "system" });
    expect(faults).toEqual([]);
    expect([...definitions.keys()].map((id) => id.replace(/-\w{7}$/, ""))).toEqual([
      "run-parts",
      "run-parts",
      "boot",
      "report",
    ]);
    expect([...definitions.values()].map(({ cron, on }) => `${cron} ${on}`)).toEqual([
      "17 * * * * every-host",
      "25 6 * * * every-host",
      "@reboot every-host",
      "0 3 * * * undefined",
    ]);
    expect(formatScheduleCrontab(definitions)).toMatch(/\n@reboot .*\/opt\/boot/);
    expect(notes.map(({ line }) => line)).toEqual([3, 4, 5, 6, 7]);
  });

  const LINES = "A=b\n0 1 * * * ann mine\n0 2 * * * root theirs\n";

  it("keeps the user of each line, and says for whose crontab an export is", () => {
    const { definitions, faults } = convert(LINES, { format: "system" });
    expect(faults).toEqual([]);
    const common = { env: { A: "b" }, folder: "~", input: "" };
    expect([...definitions.values()]).toMatchObject([
      { command: ["/bin/sh", "-c", "mine"], runAs: "ann", ...common },
      { command: ["/bin/sh", "-c", "theirs"], runAs: "root", ...common },
    ]);
    expect(formatScheduleCrontab(definitions)).toMatch(/# for the crontab of root\n0 2 \* \* \* env A=b/);
  });

  it.each(["0:0", "-u", "ann/daemon", "rооt"])("is refused where %s is no name of a user", (user) => {
    const { faults } = convert(`0 1 * * * ${user} /opt/job\n`, { format: "system" });
    expect(faults).toMatchObject([{ line: 1 }]);
  });
});

describe("ids", () => {
  it("do not depend on when a line runs, where it stands, nor on its variables", () => {
    const [one] = ids("0 1 * * * backup --all\n");
    const [, other] = ids("# more\nA=b\n5 5 * * * before\n@weekly  backup   --all\n");
    expect(other).toBe(one);
  });

  it("do not depend on the release", () => {
    const of = (release: string) => ids(`0 1 * * * cd /srv/a/releases/${release} && ./mail\n`);
    expect(of("20240102030405")).toEqual(of("20240203040506"));
    expect(of("20240102030405")).not.toEqual(ids("0 1 * * * cd /srv/b/releases/20240102030405 && ./mail\n"));
  });

  it.each([
    ["another command", "0 1 * * * backup --some\n"],
    ["another input", "0 1 * * * backup --all%x\n"],
  ])("differ for %s", (_, text) => {
    expect(ids(text)[0]).not.toBe(ids("0 1 * * * backup --all\n")[0]);
  });

  it("differ for the same line twice, and begin as asked", () => {
    const [one = "", two] = ids("0 1 * * * x\n0 2 * * * x\n", { prefix: "web." });
    expect(one).toMatch(/^web\.x-[0-9a-z]{7}$/);
    expect(two).toBe(`${one}-2`);
  });

  it.each([
    ["/opt/bin/db-dump.sh --all", "db-dump"],
    ["cd /srv && ./run.py", "run"],
    ["A=b nice -n 5 /usr/bin/php artisan", "artisan"],
    ["flock -n /run/lock/x timeout -k 5 1h rsync -a a b", "rsync"],
    ["sudo -u bob sh -c 'x'", "x"],
    ["$(which x)", "job"],
    ["'unclosed", "job"],
    ["日本", "job"],
    ["[ -x /a ] && /a", "a"],
  ])("begin with a word for the command: %s", (line, slug) => {
    expect(buildCommandSlug(line)).toBe(slug);
  });
});
