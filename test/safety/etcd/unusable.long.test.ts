/** An etcd that answers, but serves no calls of signalbox: 69, in plain words, and doctor knows it. */

import { describe, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";

describe("--max-txn-ops is smaller than the default", () => {
  const cluster = TestCluster.startForFile({ args: ["--max-txn-ops=8"] });

  test.each(TRANSPORTS)("over %s", async (transport) => {
    const namespace = cluster.createNamespace({ transport });
    expect(
      await namespace.run(["--lock", "a", "--lock", "b", "--lock", "c", "--lock", "d", "--lock", "e"]),
    ).toFail(
      69,
      /the command was not started: etcd cannot be used: .*its --max-txn-ops must be at least 128, the default$/m,
    );
    expect(await namespace.execute("doctor")).toExit(2, {
      stdout:
        /FAILURE transactions: etcd accepts fewer than 128 operations in one\n +start every member with --max-txn-ops=128/,
    });
  });
});

describe("the alarm CORRUPT", () => {
  const cluster = TestCluster.startForFile();

  test.each(TRANSPORTS)("over %s", async (transport) => {
    await cluster.etcd.setAlarm("ACTIVATE", "CORRUPT");
    const namespace = cluster.createNamespace({ transport });
    expect(await namespace.run(["--lock", "a"])).toFail(
      69,
      /the command was not started: etcd cannot be used: .*the data of its members differ \(alarm CORRUPT\)/,
    );
    expect(await namespace.execute("doctor")).toExit(2, {
      stdout: /FAILURE alarms: .*CORRUPT: the members' data differ/,
    });
  });
});
