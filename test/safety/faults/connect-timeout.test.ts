/** An etcd that answers too slowly for the session's time to live: a run that does not wait leaves all the same. */
import { describe, expect, it } from "vitest";
import { FaultProxy } from "../../../fixtures/proxy.ts";
import { Theatre, TRANSPORTS } from "../support/theatre.ts";

const theatre = new Theatre();
const OPTIONS = ["--lock", "x", "--ttl", "2s", "--termination-timeout", "100ms"];

describe.concurrent.each(TRANSPORTS)("over %s", (transport) => {
  it("a run whose sessions lapse one after the other gives up at its connect timeout: 69", async (context) => {
    const stage = await theatre.createTestNamespace(transport, context);
    const proxy = await FaultProxy.start(stage.etcd.clientUrl);
    try {
      proxy.delay = 1_500; // a session of 2 s has its horizon 1 s after its sending
      const run = stage.startJob({
        name: "run",
        options: [...OPTIONS, "--connect-timeout", "3s"],
        endpoint: proxy.url,
      });
      const { code, stderr } = await run.ended;
      expect({ code, stderr }).toEqual({ code: 69, stderr: expect.stringContaining("cannot reach etcd") });
      expect(stage.journal.listStarts()).toEqual([]);
    } finally {
      await proxy.close();
    }
  }, 60_000);
});
