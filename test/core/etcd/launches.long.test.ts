/** A slow etcd gets few duplicate calls, because duplicates would make it slower. */
import { describe, expect, it } from "vitest";
import { TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { createSteadyJitter, measureLaunches } from "../../../fixtures/etcd/launches.ts";
import { open } from "../../../fixtures/etcd/served-subject.ts";

const LOAD = { callers: 8, calls: 6 };

/** A long deadline, so that a slow machine does not cause legitimate retries. */
const timeouts = { attempt: 90_000, total: 90_000 };

describe.each(TRANSPORTS)("a slow etcd, over %s", (transport) => {
  const measure = (members: number, delay: number | (() => number)) =>
    measureLaunches({ ...LOAD, members, delay }, (endpoints) => open({ endpoints, transport, timeouts }));

  it.concurrent.each([
    ["700 ms", 700],
    ["300 to 1,500 ms", createSteadyJitter()],
  ])("of one member gets each call once, where answers take %s", async (_, delay) => {
    const { wanted, launched, failed, connections } = await measure(1, delay);
    expect({ launched, failed }).toEqual({ launched: wanted, failed: 0 });
    if (transport === "grpc") expect(connections).toBe(0);
  });

  it.concurrent("of three members gets copies of few calls, as those that follow allow for its slowness", async () => {
    const { wanted, launched, failed } = await measure(3, 700);
    expect(failed).toBe(0);
    // One round of copies for each time that the slowness doubles; without that, one for each call.
    expect(launched).toBeLessThan(1.75 * wanted);
  });
});
