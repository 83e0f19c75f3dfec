/** Certificates that are renewed while programs run, as docs/etcd.md says. */

import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { HostAgent } from "../../../fixtures/cluster/host-agent.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { type TestNamespace, TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { makeCertificates, type TestCertificates } from "../../../fixtures/etcd/certificates.ts";
import { type RunningEtcd, startCluster } from "../../../fixtures/etcd/index.ts";

const TTL = 10;
const ENV = {
  SIGNALBOX_TTL: `${TTL}s`,
  SIGNALBOX_TERMINATION_TIMEOUT: "1s",
  SIGNALBOX_CONNECT_TIMEOUT: "2s",
};

/** Replaces the text of a file at once. */
function replaceFile(file: string, ...sources: readonly string[]) {
  writeFileSync(file, sources.map((source) => readFileSync(source, "utf8")).join("\n"));
}

describe.each(TRANSPORTS)("over %s", (transport) => {
  const folder = mkdtempSync(path.join(tmpdir(), "signalbox-rotation-"));
  const file = (name: string) => path.join(folder, name);
  let former: TestCertificates;
  let next: TestCertificates;
  let etcd: RunningEtcd;
  let namespace: TestNamespace;
  let cluster: TestCluster;

  /** What etcd and the clients use. */
  const used = {
    ca: file("ca.pem"),
    server: { cert: file("etcd.pem"), key: file("etcd-key.pem") },
    client: { cert: file("client.pem"), key: file("client-key.pem") },
  };
  /** What etcd trusts, and shows. */
  const trusted = file("etcd-ca.pem");

  const renewServer = ({ server }: TestCertificates) => {
    copyFileSync(server.cert, used.server.cert);
    copyFileSync(server.key, used.server.key);
  };
  const renewClient = async (certificates: TestCertificates, seconds?: number) => {
    const { cert, key } = await certificates.issueClient("someone", seconds);
    copyFileSync(key, used.client.key);
    copyFileSync(cert, used.client.cert);
  };
  const restart = async () => {
    await etcd.members[0]?.kill(); // a clean end waits for streams
    await etcd.members[0]?.start();
  };
  const restartAndWait = async () => {
    await restart();
    await etcd.members[0]?.waitUntilReady();
  };

  beforeAll(async () => {
    former = await makeCertificates(file("former"));
    next = await makeCertificates(file("next"));
    replaceFile(used.ca, former.ca);
    replaceFile(trusted, former.ca);
    renewServer(former);
    await renewClient(former);
    const certificates = { ...former, ca: trusted, server: used.server };
    etcd = await startCluster(1, { tls: { clientCertAuth: true, certificates } });
  });

  beforeEach(async () => {
    replaceFile(used.ca, former.ca);
    replaceFile(trusted, former.ca);
    renewServer(former);
    await renewClient(former);
    await restartAndWait();
    const tls = {
      ca: readFileSync(former.ca, "utf8"),
      cert: readFileSync(used.client.cert, "utf8"),
      key: readFileSync(used.client.key, "utf8"),
    };
    cluster = await TestCluster.connect(etcd.endpoints, { tls, transport: "grpc" });
    const env = {
      ...ENV,
      SIGNALBOX_CACERT: used.ca,
      SIGNALBOX_CERT: used.client.cert,
      SIGNALBOX_KEY: used.client.key,
    };
    namespace = cluster.createNamespace({ transport, sessionTimes: "default", env });
    return () => cluster.close();
  });

  afterAll(async () => {
    await etcd.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Starts a run that holds the lock, and one that waits for it. */
  const startBoth = async (on = namespace) => {
    const holder = await on.startHolder(["--lock", "a"]);
    const waiter = on.startRun(["--lock", "a", "--wait=5m", "-v"], "echo ran");
    await waiter.waitForOutput("waiting");
    return { holder, waiter };
  };

  /** The holder has renewed its session since, and the waiter follows it. */
  const expectBothAlive = async ({ holder, waiter }: Awaited<ReturnType<typeof startBoth>>) => {
    await pause(2 * TTL * 1_000); // a session that is not renewed has expired
    holder.kill("SIGTERM");
    expect(await holder.ended).toExit(143);
    expect(await waiter.ended).toMatchObject({ code: 0, stdout: "ran\n" });
  };

  test.each([
    ["alone", async () => namespace],
    ["served by an agent", async () => (await HostAgent.start(cluster, { ...namespace.env })).namespace],
  ])(
    "%s: with a bundle of the old and the new authority, then new certificates, nothing ends",
    async (_, start) => {
      const both = await startBoth(await start());
      replaceFile(used.ca, former.ca, next.ca);
      replaceFile(trusted, former.ca, next.ca);
      await restartAndWait();
      await renewClient(next);
      renewServer(next);
      await restartAndWait();
      replaceFile(used.ca, next.ca);
      replaceFile(trusted, next.ca);
      await restartAndWait();
      await expectBothAlive(both);
    },
    60_000,
  );

  test("a certificate of a client that expires, and is renewed before", async () => {
    await renewClient(former, 10);
    const both = await startBoth();
    await renewClient(former);
    await pause(11_000);
    await restartAndWait();
    await expectBothAlive(both);
  }, 60_000);

  test.each([
    [
      "the authority of etcd is not trusted",
      () => {
        replaceFile(trusted, former.ca, next.ca);
        renewServer(next);
      },
      () => replaceFile(used.ca, next.ca),
    ],
    [
      "etcd does not accept the certificate of the client",
      () => {
        replaceFile(used.ca, former.ca, next.ca);
        replaceFile(trusted, next.ca);
        renewServer(next); // its gateway is a client too
      },
      () => renewClient(next),
    ],
  ])(
    "while %s, a run that waits continues to wait",
    async (_, breakTrust, mend) => {
      const { holder, waiter } = await startBoth();
      breakTrust();
      await restart();
      expect(await holder.ended, "the claim cannot be renewed").toMatchObject({ code: 125 });
      await pause(3_000); // longer than the connect timeout
      await mend();
      expect(await waiter.ended).toMatchObject({ code: 0, stdout: "ran\n" });
    },
    60_000,
  );
});
