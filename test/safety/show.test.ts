/** `signalbox show` and `signalbox why`, on real runs. */
import { describe, expect, it } from "vitest";
import { ticketText } from "../../src/protocol/ticket.ts";
import { ticketWith } from "../protocol/samples.ts";
import { type Stage, Theatre, TRANSPORTS } from "./support/theatre.ts";
import { until } from "./support/until.ts";

const theatre = new Theatre();
const stay = (stage: Stage) => ["until", `${stage.journal.folder}/over`];
const said = async (stage: Stage, ...args: string[]) => (await stage.command(args).ended).stdout;

describe.each(TRANSPORTS)("over %s", (transport) => {
  it("a lock: its holder, whether that is alive, who waits and why", async () => {
    const stage = await theatre.stage(transport);
    const options = ["--lock", "x", "--ttl", "9s", "--termination-timeout", "500ms"];
    const one = await stage.started({ name: "one", options, hold: stay(stage) });
    stage.run({ name: "two", options: ["--lock", "x", "--wait"], hold: [1] });
    const [two] = await stage.placed("two", "waiting");
    const shown = await said(stage, "show", "lock", "x");
    expect(shown).toMatch(
      /^lock x: held\n +holder +\S+ \(sh\), user .*\n +label +one\n +run +\S+\n +token +\d+\n/,
    );
    expect(shown).toMatch(/runner +alive: its session was renewed \ds ago, \ds left/);
    expect(shown).toMatch(/queue\n +POS.*\n +2 +\S+ +1 +waiting .* alive /);
    expect(await said(stage, "why", "x")).toMatch(
      /^\S+ \(sh, two\), waits for lock x, for .*: \S+ holds lock x\n/,
    );
    expect(await said(stage, "why", two?.run ?? "")).toContain("lock x: position 2");
    const { explanations } = JSON.parse(await said(stage, "why", "x", "--json"));
    expect(explanations).toMatchObject([
      { label: "two", verdict: "waits", obstacles: [{ missing: 1, position: 2 }] },
    ]);
    one.child.kill("SIGSTOP");
    const quiet = await until("the holder is quiet", async () => {
      const text = await said(stage, "why", "x");
      return /was not renewed for \ds, and ends in/.test(text) && text;
    });
    expect(quiet).toContain("holds lock x");
    one.child.kill("SIGCONT");
  });
});

describe("show and why", () => {
  it("a resource whose first waiter is too large for now, and one that waits in two queues", async () => {
    const stage = await theatre.stage("http");
    await stage.started({ name: "one", options: ["--no-lock", "--lease", "db=2:10"], hold: stay(stage) });
    stage.run({ name: "large", options: ["--no-lock", "--lease", "db=9:10"], hold: [1] });
    await stage.placed("large", "waiting");
    stage.run({ name: "both", options: ["--lock", "y", "--lease", "db=1:10"], hold: [1] });
    await until("both stands in two queues", async () => (await stage.tickets()).length === 4);
    expect(await said(stage, "show", "resource", "db")).toMatch(/^resource db: held, 2 of 10 units held\n/);
    const why = await said(stage, "why", "db");
    expect(why).toMatch(/large\).*: 1 unit of db must become free first/);
    expect(why).toMatch(
      /both\), waits for (lock y \(admitted\) and 1 of db|1 of db and lock y \(admitted\)).*: 2 units of db must/,
    );
    expect(why).toContain("its turn has come here, it waits elsewhere");
  });

  it("what is drained, by whom and why; what was asked of a run; what operators did", async () => {
    const stage = await theatre.stage("http");
    await stage.started({ name: "one", options: ["--lock", "x"], hold: stay(stage) });
    stage.run({ name: "two", options: ["--lock", "x", "--wait"], hold: [1] });
    const [place] = await stage.placed("two", "waiting");
    const host = place?.ticket?.host ?? "";
    await stage.command(["group", "set", "web", host]).ended;
    await stage.command(["drain", "lock", "x", "--yes", "--reason", "new disks", "--for", "2h"]).ended;
    expect(await said(stage, "why", "x")).toMatch(/lock x is drained by \S+: new disks, ends in 1h59m/);
    expect(await said(stage, "show", "lock", "x")).toMatch(
      /drain +lock x is drained by .*\n[\s\S]*operators\n.*\n.* drain /,
    );
    await stage.command(["drain", "group", "web", "--yes"]).ended;
    expect(await said(stage, "show", "host", host)).toMatch(/^host \S+: drained\n[\s\S]*groups +web\n/);
    expect(await said(stage, "show", "group", "web")).toMatch(/^group web: 1 hosts\n/);
  });

  it("a free lock is free; another thing that nobody knows is an error that says what was meant", async () => {
    const stage = await theatre.stage("http");
    expect(await stage.command(["show", "lock", "free"]).ended).toMatchObject({
      code: 0,
      stdout: "lock free: free\n",
    });
    await stage.command(["group", "set", "web", "w1.example.com"]).ended;
    expect(await stage.command(["show", "group", "wep"]).ended).toMatchObject({
      ...{ code: 1, stdout: "" },
      stderr: expect.stringContaining('did you mean "web"?'),
    });
    expect((await stage.command(["show", "run", "nobody"]).ended).code).toBe(1);
    expect((await stage.command(["show", "host", "w2"]).ended).code).toBe(1);
    expect(await said(stage, "show", "host", "W1.example.com")).toContain("never");
    expect((await stage.command(["show", "thing", "x"]).ended).code).toBe(64);
    expect((await stage.command(["why", "nothing"]).ended).code).toBe(1);
  });

  it("lets no ticket act on the terminal", async () => {
    const stage = await theatre.stage("http");
    const evil = "a\x1b]52;c;eA==\x07\x9b2J\u202e\nb";
    const words = { host: evil, command: evil, label: evil, user: evil };
    for (const [run, state] of [
      ["1".repeat(16), "held"],
      ["2".repeat(16), "waiting"],
    ] as const) {
      const reset = { by: evil, at: 1, why: evil };
      const ticket = ticketWith({ run, state, ...words, reset });
      const put = { op: "put" as const, key: stage.keys.lock("x", run), value: ticketText(ticket) };
      await stage.store.txn({ compare: [], success: [put], failure: [] });
    }
    for (const args of [
      ["show", "lock", "x"],
      ["show", "run", "2".repeat(16)],
      ["why", "x"],
      ["reset", "lock", "x", "--dry-run"],
    ])
      for (const more of [[], ["--json"]]) {
        const { code, stdout, stderr } = await stage.command([...args, ...more]).ended;
        const acts = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/.test(stdout + stderr);
        expect({ args, code, acts }).toEqual({ args, code: 0, acts: false });
      }
  });
});
