import { listAudits } from "../../../fixtures/cluster/read-keys.ts";
import { queueTicket } from "../../../fixtures/cluster/sample-queues.ts";
/** Every dangerous action of the console, from the key to etcd: preview, confirmation, job, and audit record. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { openConsole, pressUntil, switchTab } from "../../../fixtures/cluster/open-console.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import type { RunningProcess } from "../../../fixtures/signalbox.ts";
import type { Ticket } from "../../../src/core/protocol/ticket.ts";

const { test } = TestCluster.startForFile();
let waiters = 0;

/** A ticket without a runner, whose session lives on. @returns its key */
async function queueUp(namespace: TestNamespace, name: string, change: Partial<Ticket> = {}) {
  waiters += 1;
  const run = `r${String(waiters).padStart(15, "0")}`;
  return await queueTicket(namespace, name, { run, pid: 10_000 + waiters, ...change });
}
/** Until it is ended. */
const HELD = ["until", "/nonexistent"];

describe.concurrent("a reset", () => {
  test("of a live holder wants its name typed, ends the job, and tells who is next", async ({
    namespace,
  }) => {
    const run = await namespace.jobs.startHolder("run", "--lock invoices");
    const next = await namespace.jobs.startWaiter("next", "--lock invoices --wait", { hold: HELD });
    const console = await openConsole(namespace, { shows: /invoices .*held/ });
    await console.pressAndWait("X", "type invoices to confirm");
    expect(console.getText()).toMatch(/ends .*holds lock invoices[\s\S]*next .*waits for lock invoices/);
    expect(console.getText()).toContain("signalbox reset lock invoices");
    await console.pressAndWait("enter", "▲ type invoices to confirm");
    expect(await listAudits(namespace)).toEqual([]);
    console.type("invoices");
    await pressUntil(console, "enter", /done .*reset lock invoices/);
    expect(await run.ended).toExit(125);
    await namespace.jobs.journal.waitForLine("next", "start");
    expect(await listAudits(namespace)).toEqual([
      expect.stringMatching(/^reset \| lock invoices \| ended after/),
    ]);
    next.kill("SIGKILL");
  });

  test("by force deletes the ticket of a runner that is gone", async ({ namespace }) => {
    const run = await namespace.jobs.startHolder("run", "--lock x --ttl 60s");
    await run.end("SIGKILL");
    const console = await openConsole(namespace, { shows: /x .*held/ });
    await console.pressAndWait("X", "to confirm");
    await console.pressAndWait("shift+tab shift+tab shift+tab space", "signalbox reset lock x --force");
    console.press("tab", "tab");
    await console.typeAndWait("gone", "--reason gone");
    await console.pressAndWait("tab", "type x to confirm");
    console.type("x");
    await pressUntil(console, "enter", /done .*reset lock x/);
    expect(await namespace.listTickets()).toEqual([]);
    expect(await listAudits(namespace)).toEqual([
      expect.stringMatching(/^reset \| lock x \| gone \| removed by force/),
    ]);
  });
});

describe.concurrent("what changes between preview and confirmation", () => {
  test("is shown as it happens: waiters that come stop nothing, and are marked", async ({
    namespace,
    onTestFinished,
  }) => {
    const run = await namespace.jobs.startHolder("run", "--lock x");
    const console = await openConsole(namespace, { shows: /x .*held/ });
    await console.pressAndWait("X", "next  none of the waiting runs");
    console.type("x");
    const timer = setInterval(() => void queueUp(namespace, "x"), 200);
    onTestFinished(() => clearInterval(timer));
    await console.waitFor(/\+ next .*waits for lock x/);
    await console.waitFor(/- next {2}none of the waiting runs/);
    console.press("enter");
    expect(await run.ended).toExit(125);
    await console.waitFor(/done .*reset lock x/);
    expect(await listAudits(namespace)).toEqual([expect.stringMatching(/^reset \| lock x \| ended after/)]);
  });

  test("wants to be confirmed anew where another run would be ended", async ({ namespace }) => {
    const first = await queueUp(namespace, "x", { state: "held", host: "first.example.com" });
    const console = await openConsole(namespace, { shows: /x .*held/ });
    await console.pressAndWait("X", "type x to confirm");
    console.type("x");
    await queueUp(namespace, "x", { state: "held", host: "second.example.com" });
    await namespace.delete(first);
    await console.waitFor(/\+ ends +second/);
    await console.waitFor("the runs to end have changed");
    await console.pressAndWait("enter", "▲ type x to confirm");
    expect(await listAudits(namespace)).toEqual([]);
  });

  test("is refused where it is at stake; Enter looks again, with all that was typed", async ({
    namespace,
  }) => {
    await namespace.jobs.startHolder("run", "--lock x");
    const console = await openConsole(namespace, { shows: /x .*held/ });
    await console.pressAndWait("D", "Enter drain");
    console.press("tab", "tab", "tab", "tab", "tab", "tab");
    await console.typeAndWait("upgrade", "--reason upgrade", "Enter drain");
    // Both at once: what the preview shows is still from before.
    const drain = {
      op: "put",
      key: namespace.keys.drain("lock", "x"),
      value: '{"by":"ann","at":1}',
    } as const;
    await namespace.write(drain);
    await console.pressAndWait("enter", "nothing was changed, because something has changed meanwhile");
    expect(console.getText()).toMatch("new: lock x is drained by ann");
    await console.waitFor("Enter open the dialog again");
    await console.waitFor("held, drained"); // otherwise the first preview is still from before
    await console.pressAndWait("enter", "--reason upgrade", /\+ replaces: .*ann/, "Enter drain");
    await console.pressAndWait("enter", /running .*drain lock x .*waiting for/);
    expect(await listAudits(namespace)).toEqual([expect.stringMatching(/^drain \| lock x \| upgrade/)]);
  });
});

describe.concurrent("a drain", () => {
  test("waits as a job until nobody holds anything there; U lifts it", async ({ namespace }) => {
    const run = await namespace.jobs.startHolder("run", "--lock x");
    const console = await openConsole(namespace, { shows: /x .*held/ });
    await console.pressAndWait("D", "signalbox drain lock x --wait", /holds .*holds lock x/, "Enter drain");
    console.press("tab", "tab", "tab", "tab", "tab", "tab");
    await console.typeAndWait("upgrade", "--reason upgrade", /holds .*holds lock x/, "Enter drain");
    await console.pressAndWait("enter", /running .*drain lock x/, "held, drained");
    run.kill("SIGTERM");
    await console.waitFor(/done .*drain lock x/);
    await console.waitFor(/x .*drained/);
    await console.pressAndWait("2 U", /lifts: .*upgrade/, "Enter undrain");
    await pressUntil(console, "enter", /done .*undrain lock x/);
    await console.waitFor(/x .*free/);
    expect(await listAudits(namespace)).toEqual([
      expect.stringMatching(/^drain \| lock x \| upgrade \| .*empty/),
      expect.stringMatching(/^undrain \| lock x \| lifted/),
    ]);
  });

  test.for(["resource", "host", "group"])("of a %s, from its row, and back", async (scope, { namespace }) => {
    await namespace.execute("group set web web1.example.com --yes");
    await namespace.execute("resource set db 4 --yes");
    await namespace.execute("run --host web1.example.com --lock x -- true");
    const console = await openConsole(namespace, { view: `${scope}s` });
    const name = { resource: "db", host: "web1.example.com", group: "web" }[scope] ?? "";
    await console.waitFor(new RegExp(`(  |▎ )${name} `));
    await console.pressAndWait("D", `drain ${scope} ${name} --wait`, "holds none", "Enter drain");
    await console.pressAndWait("enter", new RegExp(`done .*drain ${scope} ${name}`), /Drains +1 /); // it has heard of it from etcd, too
    await console.pressAndWait("2 U", "lifts: ", "Enter undrain");
    await console.pressAndWait("enter", new RegExp(`done .*undrain ${scope} ${name}`));
    expect((await listAudits(namespace)).slice(-2)).toEqual([
      expect.stringMatching(new RegExp(`^drain \\| ${scope} ${name}`)),
      expect.stringMatching(new RegExp(`^undrain \\| ${scope} ${name}`)),
    ]);
  });
});

describe.concurrent("waiters", () => {
  test("are reset from their rows, several at once, with a result each", async ({ namespace }) => {
    await namespace.jobs.startHolder("run", "--lock x");
    const options = ["--lock", "x", "--wait"];
    const runs: RunningProcess[] = [];
    for (const name of ["a", "b", "c"]) {
      runs.push(await namespace.jobs.startWaiter(name, options, { hold: HELD }));
    }
    const console = await openConsole(namespace, {
      view: "queues",
      shows: (it) => it.getScreen().filter((row) => /lock +x +\d .*◌ waiting/.test(row)).length === 3,
    });
    await console.pressAndWait(
      "space down space",
      (it) => it.getScreen().filter((row) => row.includes("✓")).length === 2,
    );
    await console.pressAndWait("X", "reset 2 rows", "type 2 to confirm");
    console.type("2");
    await pressUntil(console, "enter", /done .*reset run/);
    await console.waitFor((it) => it.getScreen().filter((row) => /done .*reset run/.test(row)).length === 2);
    const codes = (await Promise.all(runs.slice(0, 2).map(({ ended }) => ended))).map(({ code }) => code);
    expect(codes).toEqual([75, 75]);
    expect((await namespace.listTickets()).length).toBe(2);
    expect((await listAudits(namespace)).length).toBe(2);
  });
});

describe.concurrent("a problem", () => {
  test("leads by Enter to its remedy, filled in and previewed", async ({ namespace }) => {
    const key = namespace.keys.lock("x", "0123456789abcdef");
    await namespace.put(key, "{");
    const console = await openConsole(namespace, { view: "problems", shows: "cannot be read" });
    await console.pressAndWait(
      "enter",
      "signalbox reset lock x --run 0123456789abcdef --force",
      /ends +malformed ticket/,
      "Enter reset",
    );
    expect(await namespace.listTickets()).toHaveLength(1);
    await pressUntil(console, "enter", /done .*reset lock x/);
    expect(await namespace.listTickets()).toEqual([]);
  });
});

describe.concurrent("rows of a detail", () => {
  test("can be selected: X resets the waiter, Enter shows all of its run", async ({ namespace }) => {
    await namespace.jobs.startHolder("run", "--lock x");
    const waiters = ["first", "second"];
    const runs: RunningProcess[] = [];
    for (const name of waiters) {
      runs.push(await namespace.jobs.startWaiter(name, "--lock x --wait", { hold: HELD }));
    }
    const [, second] = (await namespace.listTickets()).filter(({ ticket }) => ticket?.state === "waiting");
    const console = await openConsole(namespace, { rows: 60, shows: /x .*held .* 2 / });
    await console.pressAndWait("enter z down down enter", `run ${second?.run}: waiting`);
    const word = second?.run.slice(0, 4) ?? "";
    await console.pressAndWait("escape X", `reset run ${second?.run}`, `type ${word} to confirm`);
    console.type(word);
    await pressUntil(console, "enter", /◌ 1 waiting/);
    expect((await runs[1]?.ended)?.code).toBe(75);
    expect((await namespace.listTickets()).map(({ ticket }) => ticket?.label)).toEqual(["run", "first"]);
  });
});

describe.concurrent("what operators keep", () => {
  test("is edited, made and deleted from the console", async ({ namespace }) => {
    await namespace.execute("group set web web1.example.com --yes");
    const console = await openConsole(namespace, { view: "groups", shows: /( {2}|▎ )web / });
    await console.pressAndWait("e", "signalbox group set web web1.example.com");
    console.press("tab");
    await console.typeAndWait(" web2.example.com", "+ web2.example.com", "Enter group set");
    await pressUntil(console, "enter", /done .*group set group web/);
    await console.pressAndWait("2 n", "a new group");
    console.type("all");
    console.press("tab");
    await console.typeAndWait("web", "+ group all", "Enter group set");
    await pressUntil(console, "enter", /done .*a new group/);
    await console.waitFor("Groups 2");
    await console.pressAndWait("2 g delete", "- group all", "Enter group delete");
    await pressUntil(console, "enter", /done .*group delete/);
    const { kvs } = await namespace.store.readRange(namespace.keys.groups());
    expect(kvs.map(({ value }) => value)).toEqual([expect.stringContaining("web2.example.com")]);
  });
});

describe.concurrent("read-only", () => {
  test("refuses every action, visibly", async ({ namespace }) => {
    await namespace.jobs.startHolder("run", "--lock x");
    const console = await openConsole(namespace, { args: ["--read-only"], shows: "READ-ONLY" });
    await console.waitFor(/x .*held/);
    for (const key of ["X", "D", "U", "e", "n", "delete"]) {
      console.press("T", key); // another toast between them
      await console.waitFor("this console is read-only");
    }
    expect(await listAudits(namespace)).toEqual([]);
  });
});

test("X in History resets no other run, a name's bidi control is shown, and --theme is not stored", async ({
  namespace,
}) => {
  const name = "cod\u202Esafe";
  await namespace.execute(["run", "--lock", name, "--", "true"]);
  await namespace.jobs.startHolder("now", ["--lock", name]);
  const state = mkdtempSync(join(tmpdir(), "signalbox-actions-"));
  namespace.onClose(() => rmSync(state, { recursive: true, force: true }));
  const console = await openConsole(namespace, {
    view: "history",
    args: ["--theme", "contrast"],
    env: { XDG_STATE_HOME: state },
    shows: "cod\\u{202e}safe",
  });
  await console.pressAndWait("X", "this run has ended: see lock cod\\u{202e}safe in Locks");
  await switchTab(console, /cod\\u\{202e\}safe +● held/, 7);
  await console.pressAndWait("X", "signalbox reset lock $'cod\\u202esafe'");
  await console.pressAndWait(
    "escape",
    (it) => !it.getScreen().some((row) => row.includes("signalbox reset")),
  );
  console.press("q");
  await console.ended;
  const folder = join(state, "signalbox");
  const kept = readdirSync(folder).find((name) => name.startsWith("console-")) ?? "";
  expect(JSON.parse(readFileSync(join(folder, kept), "utf8"))).toMatchObject({ tab: "locks", theme: "auto" });
});
