import { listAudits, readSchedule } from "../../../fixtures/cluster/read-keys.ts";
/** Schedules in the console: display, and operations on their rows. */

import { describe, expect } from "vitest";
import { openConsole, pressUntil } from "../../../fixtures/cluster/open-console.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { putKeys, putSampleSchedules } from "../../../fixtures/schedule/sample-schedules.ts";
import { createOutcomesKey, createScheduleKeys } from "../../../fixtures/schedule/schedule-keys.ts";
import { parseOutcomes } from "../../../src/schedule/state/outcome.ts";

const { test } = TestCluster.startForFile();
const VIEW = { args: ["--view", "schedules"] };

describe("the tab of schedules", () => {
  test("has what runs next first, who runs it and what is wrong, and can be filtered", async ({
    namespace,
  }) => {
    await putSampleSchedules(namespace);
    const console = await openConsole(namespace, VIEW);
    await console.waitFor("Schedules 4");
    await console.waitFor(
      /old +▲ late [\s\S]*backup +● running .* web1 [\s\S]*mail +▲ failed [\s\S]*bill +▲ no-worker /,
    );
    console.type("/host:web1");
    await console.pressAndWait("enter", (it) => !it.getScreen().some((row) => /▲ late/.test(row)));
    expect(console.getText()).toMatch(/backup +● running/);
  });

  test("shows what a schedule remembers once it is looked at, and again when a run has ended", async ({
    namespace,
  }) => {
    await putSampleSchedules(namespace);
    const console = await openConsole(namespace, {
      ...VIEW,
      columns: 120,
      rows: 60,
      shows: /mail +▲ failed/,
    });
    await console.pressAndWait(
      "2 down down 3 z",
      "schedule mail: failed, waiting",
      /output of the run that ended .*: failed/,
      /no .*space/,
    );
    const now = Date.now();
    const last = { scheduled: now - 5_000, startedAt: now - 4_000, endedAt: now, late: 1_000 };
    const tail = "all is well";
    await putKeys(namespace, [
      createOutcomesKey("mail", { runs: [{ ...last, result: "ok", run: "r2", tail }] }),
      ...createScheduleKeys(
        "mail",
        {},
        { runAt: now + 9e6, last: { ...last, result: "ok", run: "r2" } },
      ).slice(1),
    ]);
    await console.waitFor(/output of the run that ended .*: ok/);
    await console.waitFor("all is well");
  });
});

describe("the output of runs", () => {
  test("the output of the last run stands under the facts", async ({ namespace }) => {
    await putSampleSchedules(namespace);
    const console = await openConsole(namespace, { ...VIEW, columns: 80, rows: 24, shows: /mail +▲ failed/ });
    await console.pressAndWait(
      "2 down down",
      /schedule mail: failed, waiting\n *when [\s\S]*output of the run that ended .*: failed\n.*no .*space/,
    );
  });

  test("a dead letter is a row: Enter runs it again after a look; a run shows its output", async ({
    namespace,
  }) => {
    await putSampleSchedules(namespace);
    const console = await openConsole(namespace, {
      ...VIEW,
      columns: 120,
      rows: 60,
      shows: /mail +▲ failed/,
    });
    await console.pressAndWait("2 down down enter z", "dead letters");
    await console.pressAndWait("down enter", "mail: failed", /scheduled .* on web1/);
    expect(console.getText()).toMatch(/failed: code 7[\s\S]*no .*space/);
    console.press("escape");
    await console.pressAndWait("down enter", /schedule trigger mail --dead \d+/, "Enter schedule trigger");
    await console.pressAndWait("enter", "to be started");
    expect((await readSchedule(namespace, "mail")).due?.open).toMatchObject([{ kind: "trigger" }]);
  });

  test("dead letters of several schedules are rows: read, marked, buried and run again at once", async ({
    namespace,
  }) => {
    const now = Date.now();
    const build = (hours: number, tail: string) => ({
      scheduled: now - hours * 3_600_000,
      result: "failed" as const,
      endedAt: now - hours * 3_600_000 + 9_000,
      attempt: 3,
      tail,
    });
    await putKeys(namespace, [
      ...createScheduleKeys("mail", {}, { runAt: now + 9e6, dead: 3 }),
      createOutcomesKey("mail", {
        dead: [build(1, "begin\nno space\n"), build(2, "no route"), build(3, "no light")],
      }),
      ...createScheduleKeys("bill", {}, { runAt: now + 9e6, dead: 1 }),
      createOutcomesKey("bill", { dead: [build(4, "no paper")] }),
    ]);
    const readDead = async (id: string) =>
      parseOutcomes(await namespace.readValue(namespace.keys.outcomes(id))).dead.map(({ tail }) => tail);
    const console = await openConsole(namespace);
    await console.typeAndWait(":schedule dead", "dead letters");
    await console.pressAndWait(
      "enter",
      /bill .*failed .*3 +no paper[\s\S]*mail .*no space[\s\S]*no route[\s\S]*no light/,
    );
    await console.pressAndWait("down l", /begin[\s\S]*no space/);
    await console.pressAndWait("escape", "a all");
    await console.pressAndWait("space down space", /✓ mail .*no space[\s\S]*✓ mail .*no route/);
    await console.pressAndWait("b", /schedule bury mail --dead \d+ --dead \d+[\s\S]*Enter schedule bury/);
    await console.pressAndWait("enter", (it) => !it.getText().includes("no route"), /done .*schedule bury/);
    expect(await readDead("mail")).toEqual(["no light"]);
    expect(await readDead("bill")).toEqual(["no paper"]);
    await console.pressAndWait("a r", "schedule trigger 2 rows", "Enter schedule trigger");
    await console.pressAndWait("enter", "no dead letters", "all 2 jobs are done");
    for (const [id, hours] of [
      ["mail", 3],
      ["bill", 4],
    ] as const)
      expect((await readSchedule(namespace, id)).due?.open).toMatchObject([
        { scheduled: now - hours * 3_600_000 },
      ]);
  });

  test("dead letters take keys that come before they are read", async ({ namespace }) => {
    const due = Date.now() + 9e6;
    const dead = [{ scheduled: 1, result: "failed" as const, endedAt: 2, attempt: 3, tail: "no light" }];
    for (const id of ["mail", "bill"])
      await putKeys(namespace, [
        ...createScheduleKeys(id, {}, { runAt: due, dead: 1 }),
        createOutcomesKey(id, { dead }),
      ]);
    const console = await openConsole(namespace, { view: "overview", shows: "dead letter" });
    await console.pressAndWait("d a enter", "schedule trigger 2 rows");
  });

  test("a problem leads to what it is about", async ({ namespace }) => {
    await putSampleSchedules(namespace);
    const console = await openConsole(namespace, { view: "problems", shows: "dead letter" });
    console.type("/dead");
    await console.pressAndWait("enter", "filter dead: 1");
    await console.pressAndWait("enter", "schedule mail: failed, waiting");
  });
});

describe("from its row, a schedule", () => {
  test("is paused, resumed, and run now, each after a preview, and all is on record", async ({
    namespace,
  }) => {
    await putSampleSchedules(namespace);
    const console = await openConsole(namespace, VIEW);
    await console.waitFor(/mail +▲ failed/);
    await console.pressAndWait("2 down down", "schedule mail: failed");
    await console.pressAndWait("C", "schedule mail is not paused");
    await console.pressAndWait("P", "Enter schedule pause");
    expect(console.getText()).toContain("signalbox schedule pause mail");
    expect((await readSchedule(namespace, "mail")).definition?.pause).toBeUndefined();
    await pressUntil(console, "enter", /done .*schedule pause mail/);
    await console.waitFor(/mail {2,}paused/); // the row; the line of the job has one blank
    expect((await readSchedule(namespace, "mail")).definition?.pause?.by).toMatch("@");
    await console.pressAndWait("2 C", "Enter schedule resume");
    await pressUntil(console, "enter", /done .*schedule resume mail/);
    expect((await readSchedule(namespace, "mail")).definition?.pause).toBeUndefined();
    await console.pressAndWait("2 N", "Enter schedule trigger");
    await pressUntil(console, "enter", /done .*schedule trigger mail/);
    await console.waitFor(/mail +◌ due/);
    expect((await readSchedule(namespace, "mail")).due?.open).toMatchObject([
      { kind: "trigger", attempt: 0 },
    ]);
    expect(await listAudits(namespace, ["action", "target"])).toEqual(
      Array.from({ length: 3 }, () => "schedule | schedule mail"),
    );
  });

  test("has a menu that begins with what is likely, and ends with what is not possible now", async ({
    namespace,
  }) => {
    await putSampleSchedules(namespace);
    const console = await openConsole(namespace, VIEW);
    await console.waitFor(/mail +▲ failed/);
    await console.pressAndWait(
      "2 down down .",
      /─ schedule mail [\s\S]*▎N +Run mail now[\s\S]* P +Pause mail[\s\S]* d +Dead letters[\s\S]* e +Edit mail[\s\S]* C +Resume mail .*not paused/,
    );
    await console.pressAndWait("down down enter", /─ dead letters of mail[\s\S]*mail .*▲ failed/);
    await console.pressAndWait("escape . enter", /schedule trigger mail[\s\S]*Enter schedule trigger/);
  });

  test("is edited beginning with what it is, and deleted with others that are marked", async ({
    namespace,
  }) => {
    await putSampleSchedules(namespace);
    const console = await openConsole(namespace, VIEW);
    await console.waitFor(/bill +▲ no-worker/);
    await console.pressAndWait("2 G e", "signalbox schedule edit bill --cron '0 * * * *' --timezone UTC");
    console.press("tab", "ctrl+u");
    await console.typeAndWait("30 4 * * *", "--cron '30 4 * * *'", "Enter schedule edit");
    await pressUntil(console, "enter", /done .*schedule edit bill/);
    expect((await readSchedule(namespace, "bill")).definition?.cron).toBe("30 4 * * *");
    await console.pressAndWait(
      "2 g space",
      (it) => it.getScreen().filter((row) => row.includes("✓")).length === 1,
    );
    await console.pressAndWait(
      "down space",
      (it) => it.getScreen().filter((row) => row.includes("✓")).length === 2,
    );
    await console.pressAndWait("delete", "schedule delete 2 rows", "Enter schedule delete");
    await console.pressAndWait("enter", "all 2 jobs are done", "Schedules 2");
  });

  test("is edited on a small screen, in a form that shows the fields around the active one", async ({
    namespace,
  }) => {
    await putSampleSchedules(namespace);
    const console = await openConsole(namespace, {
      ...VIEW,
      columns: 80,
      rows: 24,
      shows: /bill +▲ no-worker/,
    });
    await console.pressAndWait("2 G e", / cron .*more fields below.*signalbox schedule edit bill/s);
    await console.pressAndWait("shift+tab", /more fields above.*> reason/s);
    await console.typeAndWait("why not", /> reason +why not/);
  });

  test("whose preview is outdated is left as it is", async ({ namespace }) => {
    await putSampleSchedules(namespace);
    const console = await openConsole(namespace, VIEW);
    await console.waitFor(/bill +▲ no-worker/);
    await console.pressAndWait("2 G P", "Enter schedule pause");
    const other = await namespace.execute("schedule edit bill --note mine --yes");
    expect(other).toExit(0);
    await console.pressAndWait("enter", /nothing was changed|note: mine|has changed/);
    expect((await readSchedule(namespace, "bill")).definition).toMatchObject({ note: "mine" });
  });

  test("can only be looked at where nothing can be changed", async ({ namespace }) => {
    await putSampleSchedules(namespace);
    const console = await openConsole(namespace, {
      args: [...VIEW.args, "--read-only"],
      shows: /bill +▲ no-worker/,
    });
    await console.pressAndWait("2 G P", "read-only");
    expect((await readSchedule(namespace, "bill")).definition?.pause).toBeUndefined();
  });
});
