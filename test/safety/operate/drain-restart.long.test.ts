/** `drain --wait` during a restart of etcd: it continues when etcd is back, and says so. */

import { writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TestProcess } from "../../../fixtures/cluster/process-group.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { type EtcdMember, startEtcd } from "../../../fixtures/etcd/index.ts";

const TIMES = ["--ttl", "60s", "--termination-timeout", "500ms"];
const DRAIN = ["drain", "all", "--wait", "--yes", "--connect-timeout", "1s"];

describe("a drain that waits, while etcd is stopped and started again", () => {
  let etcd: EtcdMember;
  let cluster: TestCluster;
  let namespace: TestNamespace;
  let run: TestProcess;
  let over: string;

  beforeEach(async () => {
    etcd = await startEtcd();
    cluster = await TestCluster.connect(etcd.endpoints);
    namespace = cluster.createNamespace();
    over = cluster.createPath();
    run = namespace.startRun(
      ["--lock", "x", ...TIMES],
      ["sh", "-c", `until [ -e '${over}' ]; do sleep 0.05; done`],
    );
    await namespace.waitForTicket(run, "held", "x");
  });
  afterEach(async () => {
    await cluster?.close();
    await etcd?.stop();
  });

  it("returns when the holder has ended", async () => {
    const drain = namespace.start(DRAIN);
    await drain.waitForOutput(/waiting for .*/);
    await etcd.kill();
    await drain.waitForOutput("etcd is unreachable");
    await etcd.restart();
    await drain.waitForOutput("etcd is reachable again");
    expect(drain.child.exitCode).toBeNull();
    writeFileSync(over, "");
    const { code, stdout, stderr } = await drain.ended;
    expect({ code, stdout }, stderr).toEqual({
      code: 0,
      stdout: expect.stringContaining("nobody holds anything"),
    });
    expect(stderr.match(/etcd is/g)).toHaveLength(2);
    expect(await run.ended).toExit(0);
  });

  it("says who held at last, when its time is up before etcd is back", async () => {
    const drain = namespace.start([...DRAIN, "--timeout", "2s"]);
    await drain.waitForOutput(/waiting for .*/);
    await etcd.kill();
    expect(await drain.ended).toExit(124, {
      stderr: /everything is drained, but not empty after .*: held by .*:\d+/,
    });
  });

  it("ends those who remain when etcd is back, where --reset says so", async () => {
    const drain = namespace.start([...DRAIN, "--timeout", "3s", "--reset"]);
    await drain.waitForOutput(/waiting for .*/);
    await etcd.kill();
    await drain.waitForOutput("are ended when it is reachable again");
    await etcd.restart();
    const { code, stderr, stdout } = await drain.ended;
    expect({ code, stdout }, stderr).toEqual({
      code: 0,
      stdout: expect.stringContaining("1 ended by a reset"),
    });
    expect(await run.ended).toExit(125);
  });
});
