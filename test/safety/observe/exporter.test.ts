/** `signalbox exporter` on a real etcd. */

import { describe, expect } from "vitest";
import { putTickets } from "../../../fixtures/cluster/sample-queues.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { RunningProcess } from "../../../fixtures/signalbox.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { serializeDrain } from "../../../src/core/protocol/drain.ts";

const { test } = TestCluster.startForFile();

/** Asks for a path until the answer has a line. */
async function scrape(exporter: RunningProcess, path: string, line: RegExp): Promise<string> {
  await exporter.waitForOutput(/serving metrics on 127\.0\.0\.1:\d+\n/);
  const [, address] = /metrics on (\S+)\n/.exec(exporter.output.stderr) ?? [];
  return await waitUntil(`${path} has ${line}`, async () => {
    const text = await (await fetch(`http://${address}${path}`)).text();
    return line.test(text) && text;
  });
}

describe.concurrent("signalbox exporter", () => {
  test("serves what there is to see, as it changes, and ends by TERM without a fault", async ({
    namespace,
  }) => {
    await putTickets(namespace, 3, 2);
    const exporter = namespace.start("exporter --listen 0");
    const before = await scrape(exporter, "/metrics", /^signalbox_up 1$/m);
    expect(before).toMatch(/^signalbox_holders\{kind="lock"\} 3$/m);
    expect(before).toMatch(/^signalbox_drains\{scope="lock"\} 0$/m);
    expect(before).toMatch(/^process_resident_memory_bytes \d+$/m);
    const gauges = [...before.matchAll(/^# TYPE (\S+) gauge$/gm)].map(([, name]) => name);
    expect(gauges.filter((name) => name?.endsWith("_total"))).toEqual([]); // as `promtool check metrics` demands
    const key = namespace.keys.drain("lock", "x");
    const value = serializeDrain({ by: "op", at: Date.now() });
    await namespace.put(key, value);
    const after = await scrape(exporter, "/metrics", /^signalbox_drains\{scope="lock"\} 1$/m);
    const bytes = Buffer.byteLength(key) + Buffer.byteLength(value);
    expect(after).toMatch(
      new RegExp(`^signalbox_written_bytes_total\\{collection="drains"\\} ${bytes}$`, "m"),
    );
    expect(await scrape(exporter, "/healthz", /./)).toBe("ok\n");
    expect(await exporter.end()).toExit(0, { stdout: "" });
  });

  test("tells of each lock when it last succeeded, and how its last run ended", async ({ namespace }) => {
    const since = Date.now() / 1_000;
    for (const code of [0, 3])
      await namespace.execute(["run", "--lock", "x", "--", "sh", "-c", `exit ${code}`]);
    const exporter = namespace.start("exporter --listen 0");
    const text = await scrape(exporter, "/metrics", /^signalbox_lock_last_exit_code\{lock="x"\} 3$/m);
    const read = (name: string) =>
      Number(new RegExp(`^signalbox_lock_last_${name}\\{lock="x"\\} (\\S+)$`, "m").exec(text)?.[1]);
    const [success, end, now] = [
      read("success_timestamp_seconds"),
      read("end_timestamp_seconds"),
      Date.now() / 1_000,
    ];
    expect([since <= success, success <= end, end <= now]).toEqual([true, true, true]);
    expect(read("duration_seconds")).toBeGreaterThanOrEqual(0);
  });

  test("says that etcd is away, shows nothing old meanwhile, and comes back; also where it was away at the start", async ({
    namespace,
  }) => {
    await putTickets(namespace, 1, 0);
    const proxy = await namespace.startProxy();
    const exporter = namespace.start("exporter --listen 0", {
      endpoints: [proxy.url],
    });
    await scrape(exporter, "/metrics", /^signalbox_up 1\n[\s\S]*signalbox_holders/m);
    proxy.mode = "refuse";
    proxy.reset();
    const away = await scrape(exporter, "/metrics", /^signalbox_up 0$/m);
    expect(away).not.toContain("signalbox_holders");
    expect(await scrape(exporter, "/healthz", /./)).toBe("etcd is unreachable\n");
    const late = namespace.start("exporter --listen 0 --connect-timeout 200ms", {
      endpoints: [proxy.url],
    });
    await scrape(late, "/metrics", /^signalbox_up 0$/m);
    proxy.mode = "forward";
    await scrape(exporter, "/metrics", /^signalbox_holders\{kind="lock"\} 1$/m);
    await scrape(late, "/metrics", /^signalbox_holders\{kind="lock"\} 1$/m);
  });

  test("refuses a port that is taken, and an invalid address", async ({ namespace }) => {
    const first = namespace.start("exporter --listen 0");
    await first.waitForOutput("metrics on");
    const [, address = ""] = /metrics on (\S+)/.exec(first.output.stderr) ?? [];
    const second = await namespace.execute(["exporter", "--listen", address]);
    expect(second).toExit(78, { stderr: `${address} is taken` });
    const third = await namespace.execute("exporter --listen web1");
    expect(third).toExit(64, { stderr: '"web1" is not an address' });
  });
});
