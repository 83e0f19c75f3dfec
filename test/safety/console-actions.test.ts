/** Every dangerous action of the console, from the key to etcd: previewed, confirmed, done as a job, and on record. */
import { describe, expect, it } from "vitest";
import type { RunningProcess } from "../../fixtures/signalbox.ts";
import { auditOf } from "../../src/protocol/audit.ts";
import { seat } from "./support/seat.ts";
import { type Stage, Theatre } from "./support/theatre.ts";

const theatre = new Theatre();
/** Until it is ended. */
const HELD = ["until", "/nonexistent"];

async function audit(stage: Stage): Promise<string[]> {
  const { kvs } = await stage.store.range(stage.keys.audits());
  return kvs.map(({ value }) => {
    const { action, target, outcome, reason } = auditOf("", value) ?? {};
    return [action, target, reason, outcome].filter(Boolean).join(" | ");
  });
}

describe.concurrent("a reset", () => {
  it("of a live holder wants its name typed, ends the job, and tells who is next", async (context) => {
    const stage = await theatre.stage("http", context);
    const run = await stage.started({ name: "run", options: ["--lock", "invoices"], hold: HELD });
    const next = stage.run({ name: "next", options: ["--lock", "invoices", "--wait"], hold: HELD });
    await stage.placed("next", "waiting");
    const console = await seat(stage);
    await console.until(/invoices .*held/);
    console.press("X");
    await console.until("type invoices to confirm");
    expect(console.screen().join("\n")).toMatch(
      /ends .*holds lock invoices[\s\S]*next .*waits for lock invoices/,
    );
    expect(console.screen().join("\n")).toContain("signalbox reset lock invoices");
    console.press("enter");
    await console.until("▲ type invoices to confirm");
    expect(await audit(stage)).toEqual([]);
    console.type("invoices");
    console.press("enter");
    await console.until(/done .*reset lock invoices/);
    expect((await run.ended).code).toBe(125);
    await stage.journal.seen("next", "start");
    expect(await audit(stage)).toEqual([expect.stringMatching(/^reset \| lock invoices \| ended after/)]);
    next.child.kill("SIGKILL");
  });

  it("by force deletes the ticket of a runner that is gone", async (context) => {
    const stage = await theatre.stage("http", context);
    const run = await stage.started({ name: "run", options: ["--lock", "x", "--ttl", "60s"], hold: HELD });
    run.child.kill("SIGKILL");
    await run.ended;
    const console = await seat(stage);
    await console.until(/x .*held/);
    console.press("X");
    await console.until("to confirm");
    console.press("shift+tab", "shift+tab", "shift+tab", "space");
    await console.until("signalbox reset lock x --force");
    console.press("tab", "tab");
    console.type("gone");
    await console.until("--reason gone");
    console.press("tab");
    await console.until("type x to confirm");
    console.type("x");
    console.press("enter");
    await console.until(/done .*reset lock x/);
    expect(await stage.tickets()).toEqual([]);
    expect(await audit(stage)).toEqual([
      expect.stringMatching(/^reset \| lock x \| gone \| removed by force/),
    ]);
  });
});

describe.concurrent("what has moved between preview and confirmation", () => {
  it("is refused, and shown", async (context) => {
    const stage = await theatre.stage("http", context);
    await stage.started({ name: "run", options: ["--lock", "x"], hold: HELD });
    const console = await seat(stage);
    await console.until(/x .*held/);
    console.press("X");
    await console.until("type x to confirm");
    stage.run({ name: "later", options: ["--lock", "x", "--wait"], hold: HELD });
    await stage.placed("later", "waiting");
    console.type("x");
    console.press("enter");
    await console.until("nothing was done, for something has moved");
    expect(console.screen().join("\n")).toMatch(/has come \(waiting\)/);
    expect(await audit(stage)).toEqual([]);
    expect((await stage.tickets()).length).toBe(2);
  });
});

describe.concurrent("a drain", () => {
  it("waits as a job until nobody holds anything there; U lifts it", async (context) => {
    const stage = await theatre.stage("http", context);
    const run = await stage.started({ name: "run", options: ["--lock", "x"], hold: HELD });
    const console = await seat(stage);
    await console.until(/x .*held/);
    console.press("D");
    await console.until("signalbox drain lock x --wait");
    await console.until(/holds .*holds lock x/);
    await console.until("Enter drain");
    console.press("tab", "tab", "tab", "tab", "tab", "tab");
    console.type("upgrade");
    await console.until("--reason upgrade");
    await console.until(/holds .*holds lock x/);
    await console.until("Enter drain");
    console.press("enter");
    await console.until(/running .*drain lock x/);
    await console.until(/held, drained/);
    run.child.kill("SIGTERM");
    await console.until(/done .*drain lock x/);
    await console.until(/x .*drained/);
    console.press("2", "U");
    await console.until(/lifts .*upgrade/);
    await console.until("Enter undrain");
    console.press("enter");
    await console.until(/done .*undrain lock x/);
    await console.until(/x .*free/);
    expect(await audit(stage)).toEqual([
      expect.stringMatching(/^drain \| lock x \| upgrade \| .*empty/),
      expect.stringMatching(/^undrain \| lock x \| lifted/),
    ]);
  });

  it.for(["resource", "host", "group"])("of a %s, from its row, and back", async (scope, context) => {
    const stage = await theatre.stage("http", context);
    await stage.command(["group", "set", "web", "web1.example.com", "--yes"]).ended;
    await stage.command(["resource", "set", "db", "4", "--yes"]).ended;
    await stage.command(["run", "--host", "web1.example.com", "--lock", "x", "--", "true"]).ended;
    const console = await seat(stage, { args: ["--view", `${scope}s`] });
    const name = { resource: "db", host: "web1.example.com", group: "web" }[scope] ?? "";
    await console.until(new RegExp(`  ${name} `));
    console.press("D");
    await console.until(`drain ${scope} ${name} --wait`);
    await console.until(/holds nobody/);
    await console.until("Enter drain");
    console.press("enter");
    await console.until(new RegExp(`done .*drain ${scope} ${name}`));
    await console.until(/Drains 1/); // it has heard of it from etcd, too
    console.press("2", "U");
    await console.until("lifts ");
    await console.until("Enter undrain");
    console.press("enter");
    await console.until(new RegExp(`done .*undrain ${scope} ${name}`));
    expect((await audit(stage)).slice(-2)).toEqual([
      expect.stringMatching(new RegExp(`^drain \\| ${scope} ${name}`)),
      expect.stringMatching(new RegExp(`^undrain \\| ${scope} ${name}`)),
    ]);
  });
});

describe.concurrent("waiters", () => {
  it("are released from their rows, several at once, with a result each", async (context) => {
    const stage = await theatre.stage("http", context);
    await stage.started({ name: "run", options: ["--lock", "x"], hold: HELD });
    const options = ["--lock", "x", "--wait"];
    const runs: RunningProcess[] = [];
    for (const name of ["a", "b", "c"]) {
      runs.push(stage.run({ name, options, hold: HELD }));
      await stage.placed(name, "waiting");
    }
    const console = await seat(stage, { args: ["--view", "queues"] });
    await console.until((it) => it.screen().filter((row) => /◌ waiting/.test(row)).length === 3);
    console.press("space", "space");
    await console.until((it) => it.screen().filter((row) => row.includes("✓")).length === 2);
    console.press("K");
    await console.until("release 2 rows");
    await console.until("type 2 to confirm");
    console.type("2");
    console.press("enter");
    await console.until((it) => it.screen().filter((row) => /done .*release run/.test(row)).length === 2);
    const codes = (await Promise.all(runs.slice(0, 2).map(({ ended }) => ended))).map(({ code }) => code);
    expect(codes).toEqual([75, 75]);
    expect((await stage.tickets()).length).toBe(2);
    expect((await audit(stage)).length).toBe(2);
  });
});

describe.concurrent("what operators keep", () => {
  it("is edited, made and deleted from the console", async (context) => {
    const stage = await theatre.stage("http", context);
    await stage.command(["group", "set", "web", "web1.example.com", "--yes"]).ended;
    const console = await seat(stage, { args: ["--view", "groups"] });
    await console.until(/ {2}web /);
    console.press("e");
    await console.until("signalbox group set web web1.example.com");
    console.press("tab");
    console.type(" web2.example.com");
    await console.until("+ web2.example.com");
    await console.until("Enter group set");
    console.press("enter");
    await console.until(/done .*group set group web/);
    console.press("2", "n");
    await console.until("a new group");
    console.type("all");
    console.press("tab");
    console.type("web");
    await console.until(/\+ group all/);
    await console.until("Enter group set");
    console.press("enter");
    await console.until(/done .*a new group/);
    await console.until(/Groups 2/);
    console.press("2", "g", "delete");
    await console.until("- group all");
    await console.until("Enter group delete");
    console.press("enter");
    await console.until(/done .*group delete/);
    const { kvs } = await stage.store.range(stage.keys.groups());
    expect(kvs.map(({ value }) => value)).toEqual([expect.stringContaining("web2.example.com")]);
  });
});

describe.concurrent("read-only", () => {
  it("refuses every action, visibly", async (context) => {
    const stage = await theatre.stage("http", context);
    await stage.started({ name: "run", options: ["--lock", "x"], hold: HELD });
    const console = await seat(stage, { args: ["--read-only"] });
    await console.until("READ-ONLY");
    await console.until(/x .*held/);
    for (const key of ["X", "D", "U", "K", "e", "n", "delete"]) {
      console.press("T", key); // another toast between them
      await console.until("read-only: nothing can be changed here");
    }
    expect(await audit(stage)).toEqual([]);
  });
});
