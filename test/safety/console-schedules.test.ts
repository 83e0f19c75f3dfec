/** Schedules in the console: seen as they are, and operated from their rows. */
import { describe, expect, it } from "vitest";
import { auditOf } from "../../src/protocol/audit.ts";
import { parseDefinition } from "../../src/schedule/definition.ts";
import { parseDue } from "../../src/schedule/due.ts";
import { memory, schedule } from "../model/schedules.ts";
import { planned, put } from "./support/schedules.ts";
import { seat } from "./support/seat.ts";
import { type Stage, Theatre } from "./support/theatre.ts";

const theatre = new Theatre();
const VIEW = { args: ["--view", "schedules"] };

async function textAt(stage: Stage, key: string): Promise<string> {
  return (await stage.store.range({ key })).kvs[0]?.value ?? "";
}
/** What operators keep of a schedule, and where it is. */
async function kept(stage: Stage, id: string) {
  const definition = parseDefinition(await textAt(stage, stage.keys.schedule(id)));
  const due = parseDue(await textAt(stage, stage.keys.due(id)));
  return {
    definition: "value" in definition ? definition.value : undefined,
    due: "value" in due ? due.value : undefined,
  };
}
async function audit(stage: Stage): Promise<string[]> {
  const { kvs } = await stage.store.range(stage.keys.audits());
  return kvs.map(({ value }) => {
    const { action, target } = auditOf("", value) ?? {};
    return `${action} ${target}`;
  });
}

describe("the tab of schedules", () => {
  it("has what runs next first, who runs it and what is wrong, and can be filtered", async () => {
    const stage = await theatre.stage("http");
    await planned(stage);
    const console = await seat(stage, VIEW);
    await console.until(/Schedules 4/);
    await console.until(
      /old +▲ late [\s\S]*backup +● running .* web1 [\s\S]*mail +▲ failed [\s\S]*bill +▲ no-worker /,
    );
    console.type("/host:web1");
    console.press("enter");
    await console.until((it) => !it.screen().some((row) => /▲ late/.test(row)));
    expect(console.screen().join("\n")).toMatch(/backup +● running/);
  });

  it("shows what a schedule remembers once it is looked at, and again when a run has ended", async () => {
    const stage = await theatre.stage("http");
    await planned(stage);
    const console = await seat(stage, { ...VIEW, columns: 120, rows: 60 });
    await console.until(/mail +▲ failed/);
    console.press("2", "down", "down", "3", "z");
    await console.until(/schedule mail: failed, waiting/);
    await console.until(/output of the run that ended .*: failed/);
    await console.until(/no .*space/);
    const now = Date.now();
    const last = { scheduled: now - 5_000, startedAt: now - 4_000, endedAt: now, late: 1_000 };
    const tail = "all is well";
    await put(stage, [
      memory("mail", { runs: [{ ...last, result: "ok", run: "r2", tail }] }),
      ...schedule("mail", {}, { runAt: now + 9e6, last: { ...last, result: "ok", run: "r2" } }).slice(1),
    ]);
    await console.until(/output of the run that ended .*: ok/);
    await console.until(/all is well/);
  });
});

describe("from its row, a schedule", () => {
  it("is paused, resumed, and run now, each after a preview, and all is on record", async () => {
    const stage = await theatre.stage("http");
    await planned(stage);
    const console = await seat(stage, VIEW);
    await console.until(/mail +▲ failed/);
    console.press("2", "down", "down");
    await console.until(/schedule mail: failed/);
    console.press("C");
    await console.until("schedule mail is not paused");
    console.press("P");
    await console.until("Enter schedule pause");
    expect(console.screen().join("\n")).toContain("signalbox schedule pause mail");
    expect((await kept(stage, "mail")).definition?.pause).toBeUndefined();
    console.press("enter");
    await console.until(/done .*schedule pause mail/);
    await console.until(/mail +paused/);
    expect((await kept(stage, "mail")).definition?.pause?.by).toMatch(/@/);
    console.press("2", "C");
    await console.until("Enter schedule resume");
    console.press("enter");
    await console.until(/done .*schedule resume mail/);
    expect((await kept(stage, "mail")).definition?.pause).toBeUndefined();
    console.press("2", "N");
    await console.until("Enter schedule trigger");
    console.press("enter");
    await console.until(/done .*schedule trigger mail/);
    await console.until(/mail +◌ due/);
    expect((await kept(stage, "mail")).due?.open).toMatchObject([{ kind: "trigger", attempt: 0 }]);
    expect(await audit(stage)).toEqual(Array.from({ length: 3 }, () => "schedule schedule mail"));
  });

  it("is edited beginning with what it is, and deleted with others that are marked", async () => {
    const stage = await theatre.stage("http");
    await planned(stage);
    const console = await seat(stage, VIEW);
    await console.until(/bill +▲ no-worker/);
    console.press("2", "G", "e");
    await console.until("signalbox schedule edit bill --cron '0 * * * *' --timezone UTC");
    console.press("tab", "ctrl+u");
    console.type("30 4 * * *");
    await console.until("--cron '30 4 * * *'");
    await console.until("Enter schedule edit");
    console.press("enter");
    await console.until(/done .*schedule edit bill/);
    expect((await kept(stage, "bill")).definition?.cron).toBe("30 4 * * *");
    console.press("2", "g", "space");
    await console.until((it) => it.screen().filter((row) => row.includes("✓")).length === 1);
    console.press("down", "space");
    await console.until((it) => it.screen().filter((row) => row.includes("✓")).length === 2);
    console.press("delete");
    await console.until(/schedule delete 2 rows/);
    await console.until("Enter schedule delete");
    console.press("enter");
    await console.until(/all 2 are done/);
    await console.until(/Schedules 2/);
  });

  it("whose preview is outdated is left as it is", async () => {
    const stage = await theatre.stage("http");
    await planned(stage);
    const console = await seat(stage, VIEW);
    await console.until(/bill +▲ no-worker/);
    console.press("2", "G", "P");
    await console.until("Enter schedule pause");
    const other = await stage.command(["schedule", "edit", "bill", "--note", "mine", "--yes"]).ended;
    expect(other).toMatchObject({ code: 0 });
    console.press("enter");
    await console.until(/nothing was done|note: mine|has changed/);
    expect((await kept(stage, "bill")).definition).toMatchObject({ note: "mine" });
  });

  it("can only be looked at where nothing can be changed", async () => {
    const stage = await theatre.stage("http");
    await planned(stage);
    const console = await seat(stage, { args: [...VIEW.args, "--read-only"] });
    await console.until(/bill +▲ no-worker/);
    console.press("2", "G", "P");
    await console.until(/read-only/);
    expect((await kept(stage, "bill")).definition?.pause).toBeUndefined();
  });
});
