/** Calendars, from the commands to the schedules that use them. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { listAudits, readDue } from "../../../fixtures/cluster/read-keys.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { splitFirst, type TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { waitForOutcomes } from "../../../fixtures/schedule/due-schedules.ts";
import { type EndCase, expectEnds } from "../../../fixtures/schedule/expect-ends.ts";
import { connect } from "../../../src/library/index.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const YEAR = new Date().getUTCFullYear() + 1;
const ALL = "sun,mon,tue,wed,thu,fri,sat";

/** Runs a command that must succeed. @returns its output and messages */
async function expectDone(namespace: TestNamespace, ...args: string[]) {
  const ended = await namespace.execute(splitFirst(args));
  expect(ended, args.join(" ")).toExit(0);
  return ended;
}

/** Returns when a schedule is due next: `2027-12-26`. */
async function readNext(namespace: TestNamespace, id: string): Promise<string | undefined> {
  const next = (await readDue(namespace, id))?.next;
  return next === undefined ? undefined : new Date(next).toISOString().slice(0, 10);
}

const christmas = ["schedule", "add", "job", `0 3 25 12 *`, "--start", `${YEAR}-01-01`];
const work = ["--", "true"];

test.concurrent("a schedule does not fire on the days of a calendar, and previews name it", async ({
  namespace,
}) => {
  await expectDone(namespace, "calendar add holidays 12-25,12-26", `${YEAR}-12-31`, "--note", "bank");
  const added = await expectDone(
    namespace,
    ...christmas,
    "--except",
    "holidays",
    "--if-excluded",
    "next",
    ...work,
  );
  expect(added.stdout + added.stderr).toContain(`[calendar: instead of ${YEAR}-12-25 (holidays)]`);
  expect(await readNext(namespace, "job")).toBe(`${YEAR}-12-27`);
  const next = await expectDone(namespace, "schedule next job --count 1 --from", `${YEAR}-12-01`);
  expect(next.stdout).toContain(`calendar: instead of ${YEAR}-12-25 (holidays)`);
  const explained = await expectDone(namespace, "schedule explain job");
  expect(explained.stdout).toMatch(/not on days of holidays; .* moves to the next day/);
  expect(explained.stdout).toMatch(/next excluded days: \d{4}-12-25 \(holidays\)/);
  const shown = await expectDone(namespace, "show schedule job");
  expect(shown.stdout).toMatch(/except +holidays/);
  expect(shown.stdout).toContain(`instead of ${YEAR}-12-25 (holidays)`);
  const calendar = await expectDone(namespace, "calendar show holidays");
  expect(calendar.stdout).toBe(`note: bank\n12-25\n12-26\n${YEAR}-12-31\nused by: job\n`);
  const list = await expectDone(namespace, "calendar list --json");
  expect(JSON.parse(list.stdout).rows).toMatchObject([
    { calendar: "holidays", days: ["12-25", "12-26", `${YEAR}-12-31`], schedules: ["job"], note: "bank" },
  ]);
});

test.concurrent("a change of a calendar moves its schedules in the same transaction", async ({
  namespace,
}) => {
  await expectDone(namespace, "calendar add holidays 12-25");
  await expectDone(namespace, ...christmas, "--except", "holidays", "--if-excluded", "next", ...work);
  await expectDone(namespace, "schedule add other", "0 3 25 12 *", ...work);
  expect(await readNext(namespace, "job")).toBe(`${YEAR}-12-26`);
  const more = ["calendar", "add", "holidays", "12-26"];
  const dry = await expectDone(namespace, ...more, "--dry-run");
  const lines = dry.stdout + dry.stderr;
  expect(lines).toContain("calendar holidays changed: added 12-26");
  expect(lines).toMatch(new RegExp(`schedule job would be changed; next ${YEAR}-12-27 03:00:00`));
  expect(lines).not.toContain("schedule other");
  expect(await readNext(namespace, "job")).toBe(`${YEAR}-12-26`);
  expect(await namespace.start(more).ended).toExit(64, { stderr: "--yes" });
  await expectDone(namespace, ...more, "--yes", "--reason", "new law");
  expect(await readNext(namespace, "job")).toBe(`${YEAR}-12-27`);
  expect(await listAudits(namespace)).toContain(
    "calendar | calendar holidays | new law | calendar holidays changed: added 12-26; 1 schedules move",
  );
  const again = await expectDone(namespace, ...more);
  expect(again.stdout + again.stderr).toContain('calendar "holidays" is up to date');
  const stale = await namespace.start([...more, "12-27", "--yes", "--expect-revision", "1"]).ended;
  expect(stale).toExit(75);
  const replaced = await expectDone(namespace, "calendar add holidays 12-24 --replace --json --yes");
  expect(JSON.parse(replaced.stdout)).toMatchObject({
    action: "calendar",
    outcome: "done",
    changes: [{ kind: "calendar", name: "holidays", after: { days: ["12-24"] } }],
    schedules: [{ id: "job" }],
  });
  expect(await readNext(namespace, "job")).toMatch(/-12-25$/);
});

test.concurrent("a calendar that schedules use is not deleted", async ({ namespace }) => {
  await expectDone(namespace, "calendar add holidays 12-25");
  await expectDone(namespace, ...christmas, "--only", "holidays", ...work);
  const refused = await namespace.start("calendar delete holidays --yes").ended;
  expect(refused).toExit(64, { stderr: 'calendar "holidays" cannot be deleted: schedule job uses it' });
  await expectDone(namespace, "schedule edit job --only", "");
  await expectDone(namespace, "calendar delete holidays --yes");
  expect((await namespace.store.readRange(namespace.keys.calendars())).kvs).toEqual([]);
  expect(await namespace.start("calendar delete holidays --yes").ended).toExit(1, {
    stderr: 'there is no calendar "holidays"',
  });
});

test.concurrent("what cannot be right is refused, with the reason", async ({ namespace }) => {
  await expectDone(namespace, "calendar add always", ALL);
  const cases: EndCase[] = [
    ["calendar add a 2026-02-30", 64, '"2026-02-30" is not a day: write a date 2026-12-25'],
    ["calendar show gone", 1, 'there is no calendar "gone"'],
    [[...christmas, "--except", "gone", ...work], 78, 'there is no calendar "gone"'],
    [
      [...christmas, "--except", "always", ...work],
      64,
      "would never fire: its calendars leave no day: always",
    ],
    [[...christmas, "--if-excluded", "later", ...work], 64, "skip, next, previous"],
    ["calendar import a -", 78, "not iCalendar"],
  ];
  await expectEnds(namespace, cases);
});

test.concurrent("an iCalendar file sets the days, and a second import changes nothing", async ({
  namespace,
}) => {
  const file = cluster.createPath(
    [
      "BEGIN:VCALENDAR",
      "VERSION:2.0",
      "PRODID:x",
      "BEGIN:VEVENT",
      "UID:1",
      "DTSTAMP:20260101T000000Z",
      "DTSTART;VALUE=DATE:20201225",
      "RRULE:FREQ=YEARLY",
      "SUMMARY:Christmas",
      "END:VEVENT",
      "BEGIN:VEVENT",
      "UID:2",
      "DTSTAMP:20260101T000000Z",
      `DTSTART;VALUE=DATE:${YEAR}1230`,
      `DTEND;VALUE=DATE:${YEAR + 1}0102`,
      "END:VEVENT",
      "END:VCALENDAR",
      "",
    ].join("\r\n"),
    0o644,
  );
  expect(existsSync(file)).toBe(true);
  await expectDone(namespace, "calendar add holidays 01-01");
  await expectDone(namespace, ...christmas, "--except", "holidays", "--if-excluded", "previous", ...work);
  await expectDone(namespace, "calendar import holidays", file, "--yes");
  const shown = await expectDone(namespace, "calendar show holidays --json");
  expect(JSON.parse(shown.stdout).days).toEqual(["12-25", `${YEAR}-12-30..${YEAR + 1}-01-01`]);
  expect(await readNext(namespace, "job")).toBe(`${YEAR}-12-24`);
  const again = await expectDone(namespace, "calendar import holidays", file);
  expect(again.stdout + again.stderr).toContain("is up to date");
});

test.concurrent("lint finds what moves to a weekday that the schedule does not name", async ({
  namespace,
}) => {
  await expectDone(namespace, "calendar add mondays mon");
  await expectDone(namespace, "calendar add free mon,sat,sun");
  for (const [id, calendar] of [
    ["moved", "mondays"],
    ["kept", "free"],
  ] as const) {
    const times = ["0 3 * * mon-fri", "--except", calendar, "--if-excluded", "previous"];
    await expectDone(namespace, "schedule add", id, ...times, ...work);
  }
  const { stdout } = await expectDone(namespace, "schedule lint");
  expect(stdout).toMatch(/^moved: warning: calendars: .* moves to .*, a Sunday, which is none of "mon-fri"/m);
  expect(stdout).not.toMatch(/^kept:/m);
});

test.concurrent("a schedule whose calendar vanished is a problem, and says so everywhere", async ({
  namespace,
}) => {
  await expectDone(namespace, "calendar add holidays 12-25");
  await expectDone(namespace, "schedule add job", "* * * * *", "--except", "holidays", ...work);
  const key = namespace.keys.calendar("holidays");
  await namespace.delete(key);
  const why = 'there is no calendar "holidays"';
  const shown = await expectDone(namespace, "show schedule job");
  expect(shown.stdout).toMatch("schedule job: malformed");
  expect(shown.stdout).toContain(why);
  const listed = await expectDone(namespace, "ls schedules --json");
  expect(JSON.parse(listed.stdout).rows).toMatchObject([{ state: "malformed", fault: why }]);
  const lint = await namespace.start("schedule lint job").ended;
  expect(lint).toExit(1, { stdout: why });
  const problems = await namespace.start("ls problems --json").ended;
  expect(JSON.parse(problems.stdout).rows).toContainEqual(
    expect.objectContaining({
      kind: "malformed",
      subject: "schedule job",
      detail: `it does not fire: ${why}`,
    }),
  );
  const worker = namespace.start("worker");
  await worker.waitForOutput(/a schedule does not fire.*there is no calendar/);
  await expectDone(namespace, "calendar add holidays 12-25");
  await expectDone(namespace, "schedule trigger job");
  await waitForOutcomes(namespace, "job");
});

test("programs give a schedule its calendars, and take them away", async ({ namespace }) => {
  const { prefix, env } = namespace;
  await expectDone(namespace, "calendar add holidays 12-25");
  const signalbox = await connect({ endpoints: cluster.etcd.endpoints, prefix, env });
  try {
    const fields = { cron: "0 3 25 12 *", start: `${YEAR}-01-01T00:00Z`, command: ["true"] };
    const added = await signalbox.schedules.add("job", {
      ...fields,
      except: ["holidays"],
      ifExcluded: "next",
    });
    expect(added.nextTime?.toISOString()).toMatch("-12-26T03:00");
    expect(added.definition).toMatchObject({ except: ["holidays"], ifExcluded: "next" });
    const changed = await signalbox.schedules.modify("job", { except: null });
    expect(changed.nextTime?.toISOString()).toMatch("-12-25T03:00");
    await expect(signalbox.schedules.modify("job", { only: ["gone"] })).rejects.toThrow('no calendar "gone"');
  } finally {
    await signalbox.close();
  }
});

test("the commands that run something do not load the package for iCalendar files", () => {
  for (const bundle of ["run.cjs", "front.cjs", "library.mjs", "agent.cjs", "complete.cjs"]) {
    const text = readFileSync(join("dist", bundle), "utf8");
    expect([bundle, text.includes("modules/ical.js"), text.includes("VCALENDAR")]).toEqual([
      bundle,
      false,
      false,
    ]);
  }
});

test.concurrent("an export has the calendars of a schedule, and an import keeps them", async ({
  namespace,
}) => {
  await expectDone(namespace, "calendar add holidays 12-25");
  await expectDone(namespace, ...christmas, "--except", "holidays", "--if-excluded", "previous", ...work);
  const file = cluster.createPath("", 0o644);
  await expectDone(namespace, "export --only calendars --only schedules --format json", file);
  await expectDone(namespace, "schedule delete job --yes");
  await expectDone(namespace, "apply", file, "--yes");
  const { stdout } = await expectDone(namespace, "show schedule job --json");
  expect(JSON.parse(stdout).row.definition).toMatchObject({ except: ["holidays"], ifExcluded: "previous" });
  expect(await readNext(namespace, "job")).toMatch(/-12-24$/);
});

test.concurrent("a schedule is not triggered on an excluded day, unless that is asked for", async ({
  namespace,
}) => {
  await expectDone(namespace, "calendar add never", ALL);
  await expectDone(namespace, "calendar add holidays 12-25");
  const add = ["schedule", "add", "job", "@manual", "--except", "never", ...work];
  await expectDone(namespace, ...add);
  const refused = await namespace.start("schedule trigger job").ended;
  expect(refused).toExit(64, {
    stderr: /"job" does not run on \d{4}-\d\d-\d\d \(never\).* --ignore-calendar/,
  });
  const signalbox = await connect({
    endpoints: [cluster.etcd.clientUrl],
    prefix: namespace.keys.prefix,
    env: {},
  });
  await expect(signalbox.schedules.trigger("job")).rejects.toThrow("does not run on");
  await signalbox.schedules.trigger("job", { ignoreCalendars: true });
  await signalbox.close();
  namespace.start("worker");
  await waitForOutcomes(namespace, "job");
  await expectDone(namespace, "schedule trigger job --ignore-calendar");
  const outcomes = await waitForOutcomes(namespace, "job", 2);
  expect(outcomes).toMatchObject([{ result: "ok" }, { result: "ok" }]);
});

test.concurrent("a chained run on an excluded day is skipped, and waits for a calendar that is missing", async ({
  namespace,
}) => {
  await expectDone(namespace, "calendar add never", ALL);
  await expectDone(namespace, "calendar add lost 12-25");
  await expectDone(namespace, "schedule add first @manual", ...work);
  await expectDone(namespace, "schedule add job --after first --except never", ...work);
  await expectDone(namespace, "schedule add late --after first --except lost", ...work);
  const lost = namespace.keys.calendar("lost");
  const value = (await namespace.readValue(lost)) ?? "";
  await namespace.delete(lost);
  namespace.start("worker");
  await expectDone(namespace, "schedule trigger first");
  expect(await waitForOutcomes(namespace, "job")).toMatchObject([
    { result: "skipped", count: 1, reason: "its calendars exclude the day" },
  ]);
  expect(await readDue(namespace, "late")).toMatchObject({ open: [{ kind: "after", attempt: 0 }] });
  await namespace.put(lost, value);
  expect(await waitForOutcomes(namespace, "late")).toMatchObject([{ result: "ok" }]);
});
