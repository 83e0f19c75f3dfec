/** How a worker leaves, is killed, or freezes: what is left of its tasks, and who has them then. */
import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { remains } from "../process/helpers.ts";
import { death } from "./support/death.ts";
import { House } from "./support/house.ts";
import { due, exists, HOLD, outcome, outcomes, sh } from "./support/work.ts";

const house = House.onEtcd();

describe.concurrent("a worker", () => {
  test.each(["SIGTERM", "SIGINT", "SIGQUIT"] as const)(
    "lets what runs end at %s, and takes nothing more",
    async (name) => {
      const room = house.room();
      const [there, gate] = [house.file(), house.file()];
      const worker = room.cli(["worker"]);
      await due(room, "a", { command: sh(HOLD(there, gate)) });
      await exists(there);
      worker.child.kill(name);
      await worker.waitForOutput(/leaving when the running tasks have ended/);
      await due(room, "b", { command: ["true"] });
      writeFileSync(gate, "");
      expect(await worker.ended).toMatchObject({ code: 0 });
      expect(await outcomes(room, "a")).toMatchObject([{ result: "ok", tail: "let go" }]);
      expect(await outcomes(room, "b")).toEqual([]);
      expect((await room.store.readRange(room.keys.workers())).kvs).toEqual([]);
    },
  );

  test("ends what runs at the second signal; another worker takes it at once", async () => {
    const room = house.room();
    const [there, gate] = [house.file(), house.file()];
    const worker = room.cli(["worker"]);
    await due(room, "a", { command: sh(HOLD(there, gate)) });
    await exists(there);
    worker.child.kill("SIGTERM");
    await worker.waitForOutput(/leaving when the running tasks have ended/);
    worker.child.kill("SIGTERM");
    expect(await worker.ended).toMatchObject({ code: 143 });
    expect(remains(worker.mark)).toEqual([]);
    writeFileSync(gate, "");
    room.cli(["worker"]);
    const [second, first] = await outcome(room, "a", 2);
    expect([first, second]).toMatchObject([{ result: "released" }, { result: "ok" }]);
    expect(second?.scheduled).toBe(first?.scheduled);
  });

  test("killed, its commands die with it", async () => {
    const room = house.room(); // no horizon is near
    const there = house.file();
    const worker = room.cli(["worker"]);
    await due(room, "a", { command: sh(`trap '' TERM; setsid sleep 60 & touch ${there}; sleep 60`) });
    await exists(there);
    worker.child.kill("SIGKILL");
    await death(worker.mark, 8_000);
    const [keys] = [await room.store.readRange(room.keys.runnings())];
    expect(keys.kvs.length, "the claim stood for longer than its command").toBe(1);
  });

  test("frozen, its command has ended before another worker takes the occurrence", async () => {
    const room = house.room({ env: { SIGNALBOX_TTL: "3s", SIGNALBOX_TERMINATION_TIMEOUT: "300ms" } });
    const there = house.file();
    const frozen = room.cli(["worker"]);
    const script = `[ -e ${there} ] && exit 0; trap '' TERM; touch ${there}; while :; do sleep 0.05; done`;
    await due(room, "a", { command: sh(script) });
    await exists(there);
    frozen.child.kill("SIGSTOP");
    await death(frozen.mark, 8_000, frozen.pid);
    expect(await outcomes(room, "a"), "nobody else has had it yet").toEqual([]);
    room.cli(["worker"]);
    expect(await outcome(room, "a")).toMatchObject([{ result: "ok" }]);
    frozen.child.kill("SIGCONT");
    await frozen.waitForOutput(/the worker has no session|another worker took over a task|did not succeed/);
    expect(await outcomes(room, "a")).toHaveLength(1);
  });
});
