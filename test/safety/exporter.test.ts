// Covers src/commands/see/exporter/cluster-metrics.ts, src/commands/see/exporter/exporter.impl.ts
/** `signalbox exporter` on a real etcd. */
import { describe, expect, it } from "vitest";
import { FaultProxy } from "../../fixtures/proxy.ts";
import type { RunningProcess } from "../../fixtures/signalbox.ts";
import { serializeDrain } from "../../src/protocol/drain.ts";
import { crowd } from "./support/listings.ts";
import { Theatre } from "./support/theatre.ts";
import { until } from "./support/until.ts";

const theatre = new Theatre();

/** Asks for a path until the answer has a line. */
async function scraped(exporter: RunningProcess, path: string, line: RegExp): Promise<string> {
  await exporter.waitForOutput(/serving metrics on 127\.0\.0\.1:\d+\n/);
  const [, address] = /metrics on (\S+)\n/.exec(exporter.output.stderr) ?? [];
  return await until(`${path} has ${line}`, async () => {
    const text = await (await fetch(`http://${address}${path}`)).text();
    return line.test(text) && text;
  });
}

describe("signalbox exporter", () => {
  it("serves what there is to see, as it changes, and ends by TERM without a fault", async () => {
    const stage = await theatre.stage("http");
    await crowd(stage, 3, 2);
    const exporter = stage.command(["exporter", "--listen", "0"]);
    const before = await scraped(exporter, "/metrics", /^signalbox_up 1$/m);
    expect(before).toMatch(/^signalbox_holders\{kind="lock"\} 3$/m);
    expect(before).toMatch(/^signalbox_drains\{scope="lock"\} 0$/m);
    expect(before).toMatch(/^process_resident_memory_bytes \d+$/m);
    const gauges = [...before.matchAll(/^# TYPE (\S+) gauge$/gm)].map(([, name]) => name);
    expect(gauges.filter((name) => name?.endsWith("_total"))).toEqual([]); // as `promtool check metrics` demands
    const key = stage.keys.drain("lock", "x");
    const value = serializeDrain({ by: "op", at: Date.now() });
    await stage.store.commitTxn({ compare: [], success: [{ op: "put", key, value }], failure: [] });
    await scraped(exporter, "/metrics", /^signalbox_drains\{scope="lock"\} 1$/m);
    expect(await scraped(exporter, "/healthz", /./)).toBe("ok\n");
    exporter.child.kill("SIGTERM");
    expect(await exporter.ended).toMatchObject({ code: 0, stdout: "" });
  });

  it("says that etcd is away, shows nothing old meanwhile, and comes back; also where it was away at the start", async () => {
    const stage = await theatre.stage("http");
    await crowd(stage, 1, 0);
    const proxy = await FaultProxy.start(stage.etcd.clientUrl);
    try {
      const exporter = stage.command(["exporter", "--listen", "0"], { endpoint: `http://${proxy.address}` });
      await scraped(exporter, "/metrics", /^signalbox_up 1\n[\s\S]*signalbox_holders/m);
      proxy.mode = "refuse";
      proxy.reset();
      const away = await scraped(exporter, "/metrics", /^signalbox_up 0$/m);
      expect(away).not.toContain("signalbox_holders");
      expect(await scraped(exporter, "/healthz", /./)).toBe("etcd is unreachable\n");
      const late = stage.command(["exporter", "--listen", "0", "--connect-timeout", "200ms"], {
        endpoint: `http://${proxy.address}`,
      });
      await scraped(late, "/metrics", /^signalbox_up 0$/m);
      proxy.mode = "forward";
      await scraped(exporter, "/metrics", /^signalbox_holders\{kind="lock"\} 1$/m);
      await scraped(late, "/metrics", /^signalbox_holders\{kind="lock"\} 1$/m);
    } finally {
      await proxy.close();
    }
  });

  it("refuses a port that is taken, and an address that is none", async () => {
    const stage = await theatre.stage("http");
    const first = stage.command(["exporter", "--listen", "0"]);
    await first.waitForOutput(/metrics on/);
    const [, address = ""] = /metrics on (\S+)/.exec(first.output.stderr) ?? [];
    const second = await stage.command(["exporter", "--listen", address]).ended;
    expect(second).toMatchObject({ code: 78, stderr: expect.stringContaining(`${address} is taken`) });
    const third = await stage.command(["exporter", "--listen", "web1"]).ended;
    expect(third).toMatchObject({ code: 64, stderr: expect.stringContaining('"web1" is not an address') });
  });
});
