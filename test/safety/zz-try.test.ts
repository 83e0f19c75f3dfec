import { it } from "vitest";
import { seat } from "./support/seat.ts";
import { Theatre } from "./support/theatre.ts";
const theatre = new Theatre();
it("x", async () => {
  const stage = await theatre.stage("grpc");
  const N = 100_000;
  const now = Date.now();
  for (let at = 0; at < N; at += 60) {
    const success = Array.from({ length: 60 }, (_, k) => at + k).flatMap((i) => [
      { op: "put" as const, key: stage.keys.schedule(`s${i}`), value: JSON.stringify({ v: 1, cron: `${i % 60} ${i % 24} * * *`, timezone: "Europe/Berlin", type: `t${i % 50}` }) },
      { op: "put" as const, key: stage.keys.due(`s${i}`), value: JSON.stringify({ v: 1, next: now + i * 1000, runAt: now + i * 1000, last: { scheduled: 1, startedAt: 2, endedAt: 3, late: 4, result: "ok", run: "r" } }) },
    ]);
    await stage.store.txn({ compare: [], success, failure: [] });
  }
  console.log("put", Date.now() - now);
  let s = Date.now();
  const { stdout } = await stage.command(["ls", "schedules", "--limit", "3"]).ended;
  console.log(`ls ${Date.now() - s} ms\n${stdout}`);
  s = Date.now();
  const c = await seat(stage, { args: ["--view", "schedules"] });
  await c.until(/Schedules 100/);
  console.log(`console ${Date.now() - s} ms\n${c.screen().join("\n")}`);
  s = Date.now(); c.press("2", "G"); await c.until(/ s99999 /); console.log("to the end", Date.now() - s);
  s = Date.now(); c.type("/s7777"); c.press("enter"); await c.until(/filter s7777: 1\d of|11 of/); console.log("filter", Date.now() - s);
  const { readFileSync } = await import("node:fs");
  console.log(/VmRSS.*/.exec(readFileSync(`/proc/${c.pid}/status`, "utf8"))?.[0]);
}, 120000);
