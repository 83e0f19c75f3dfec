/** An etcd that answers too slowly for the session's time to live, or no claim: a run that does not wait still ends. */

import { describe, expect, it } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";

const cluster = TestCluster.startForFile();
const OPTIONS = ["--lock", "x", "--ttl", "2s", "--termination-timeout", "100ms"];

describe.concurrent.each(TRANSPORTS)("over %s", (transport) => {
  it("a run whose sessions lapse one after the other gives up at its connect timeout: 69", async (context) => {
    const namespace = await cluster.createTestNamespace(transport, context);
    const proxy = await namespace.startProxy();
    proxy.delay = 1_500; // a session of 2 s has its horizon 1 s after its sending
    const run = namespace.jobs.start("run", [...OPTIONS, "--connect-timeout", "3s"], {
      endpoints: [proxy.url],
    });
    expect(await run.ended).toExit(69, { stderr: "cannot reach etcd" });
    expect(namespace.jobs.journal.listStarts()).toEqual([]);
  }, 60_000);

  it("a run that etcd refuses each claim, and no read, gives up at its connect timeout: 69", async (context) => {
    const namespace = await cluster.createTestNamespace(transport, context);
    const interceptor = await namespace.interceptRequests();
    const claim = transport === "http" ? /"request_?put"/i : /"enqueuedAt"/;
    const lose = (): Promise<void> =>
      interceptor.interceptNext(claim, "request").then((call) => {
        call.reset();
        return lose();
      });
    void lose();
    const options = ["--lock", "x", "--ttl", "60s", "--connect-timeout", "2s"];
    expect(await namespace.jobs.start("run", options, { endpoints: [interceptor.endpoint] }).ended).toExit(
      69,
      { stderr: "cannot reach etcd" },
    );
    expect(namespace.jobs.journal.listStarts()).toEqual([]);
    expect(await namespace.listTickets()).toEqual([]);
  }, 30_000);
});
