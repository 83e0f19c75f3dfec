/**
 * A machine that its hypervisor paused. Its own clocks stood still, the boot-time clock too, so no deadline has passed when it
 * goes on. What can be noticed is that its wall clock is set right then.
 */
import { writeFileSync } from "node:fs";
import { describe, expect, it, type TestContext } from "vitest";
import { WallClock } from "../../../fixtures/process/wall-clock.ts";
import { FaultProxy } from "../../../fixtures/proxy.ts";
import type { RunningProcess } from "../../../fixtures/signalbox.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { type Stage, Theatre, TRANSPORTS } from "../support/theatre.ts";

const theatre = new Theatre();
/** Renewed every 100 s: what happens within a test is not because a renewal was due. */
const TTL = 600;
const OPTIONS = ["--lock", "x", "--ttl", `${TTL}s`, "--termination-timeout", "1s", "-v"];

interface Scene {
  stage: Stage;
  clock: WallClock;
  proxy: FaultProxy;
  run: RunningProcess;
  /** Lets the job end. */
  finish(): void;
}

/** A job that runs until it is let go, on a machine whose wall clock the test sets, behind a proxy. */
async function runsOn(transport: "http" | "grpc", context: TestContext): Promise<Scene> {
  const stage = await theatre.createTestNamespace(transport, context);
  const [{ clock, remove }, proxy] = await Promise.all([
    WallClock.createTemporary(),
    FaultProxy.start(stage.etcd.clientUrl),
  ]);
  context.onTestFinished(async () => void (await Promise.all([remove(), proxy.close()])));
  const over = `${stage.journal.folder}/over`;
  const job = { name: "job", options: OPTIONS, hold: ["until", over], endpoint: proxy.url, env: clock.env };
  const run = await stage.startJobAndWait(job);
  return { stage, clock, proxy, run, finish: () => writeFileSync(over, "") };
}

describe.concurrent.each(TRANSPORTS)("over %s, when the wall clock jumps forward", (transport) => {
  it("by hours, the claim is proved at once, and the job goes on", async (context) => {
    const { stage, clock, run, finish } = await runsOn(transport, context);
    clock.setOffset(5 * 3_600_000);
    await run.waitForOutput(/the wall clock jumped forward/);
    await waitUntil("the session is renewed", () => run.output.stderr.includes("renewed after the jump"), {
      ms: 60_000,
    });
    expect((await stage.waitForTickets("job", "held")).length).toBe(1);
    finish();
    expect(await run.ended).toMatchObject({ code: 0 });
    expect(stage.journal.findLine("job", "end")).toBeDefined();
  }, 120_000);

  it("by more than the time to live while etcd is out of reach, the job is ended: 125", async (context) => {
    const { stage, clock, proxy, run } = await runsOn(transport, context);
    proxy.mode = "drop";
    clock.setOffset((TTL + 60) * 1_000);
    const { code, stderr } = await run.ended;
    expect(code, stderr).toBe(125);
    expect(stderr).toMatch(/could not be renewed after a pause of the machine, 11m by the wall clock/);
    expect(stage.journal.findLine("job", "end"), "it was killed").toBeUndefined();
  }, 120_000);

  it("and somebody else has got the lock meanwhile, the job is ended: 125", async (context) => {
    const { stage, clock, proxy, run } = await runsOn(transport, context);
    const [place] = await stage.waitForTickets("job", "held");
    proxy.mode = "drop"; // what the machine had open is dead after the pause, and says nothing
    proxy.strand();
    await stage.store.revoke(place?.session ?? 0n);
    await stage.startJobAndWait({ name: "next", options: ["--lock", "x"], hold: ["until", "/nowhere"] });
    expect(run.child.exitCode, "nothing tells yet").toBeNull();
    proxy.mode = "forward";
    clock.setOffset((TTL + 60) * 1_000);
    const { code, stderr } = await run.ended;
    expect(code, stderr).toBe(125);
    expect(stderr).toContain("the claim was lost");
  }, 120_000);
});
