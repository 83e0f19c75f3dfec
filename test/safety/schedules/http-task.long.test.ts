/** Requests to web servers as tasks of a worker process. */
import { chmodSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { makeCertificates } from "../../../fixtures/etcd/certificates.ts";
import { putDueSchedule, waitForOutcomes } from "../../../fixtures/schedule/due-schedules.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { startWebServer } from "../../../fixtures/worker/http-fixture.ts";

const cluster = TestCluster.startForFile();

function startWorker(handlers: object[], env: Record<string, string> = {}) {
  const namespace = cluster.createNamespace();
  const file = cluster.createPath(JSON.stringify({ handlers, commands: false }));
  return { namespace, worker: namespace.start(`worker --handlers ${file}`, { env }) };
}

test("a schedule whose type has a request is run by it, with its fencing token and a secret", async () => {
  const { url, requests } = await startWebServer(
    (response, { headers }) => void response.end(`done as ${headers.authorization}`),
  );
  const secret = cluster.createPath("Bearer hunter2\n");
  chmodSync(secret, 0o600);
  const { namespace, worker } = startWorker([
    { type: "report", http: { url, secretHeaders: { authorization: secret } } },
  ]);
  await putDueSchedule(namespace, "report.sales", { data: { region: "eu" } });
  const [last] = await waitForOutcomes(namespace, "report.sales");
  expect(last).toMatchObject({ result: "ok", code: 200, tail: "done as ***" });
  const [request] = requests;
  expect(request?.headers["signalbox-token"]).toBe(last?.token);
  expect(request?.headers["idempotency-key"]).toBe(
    `report.sales@${new Date(last?.scheduled ?? 0).toISOString()}`,
  );
  expect(JSON.parse(request?.body ?? "")).toMatchObject({
    id: "report.sales",
    run: last?.run,
    data: { region: "eu" },
  });
  expect(worker.output.stderr).toMatch(/output schedule=report\.sales .*done as \*\*\*/);
  expect(worker.output.stderr).not.toContain("hunter2");
  expect(await namespace.execute(["logs", String(last?.run)])).toExit(0, { stdout: "done as ***" });
});

test("a server that is busy gets the same occurrence again, with the same key and a later token", async () => {
  const { url, requests } = await startWebServer((response) => {
    if (requests.length === 1) response.writeHead(503, { "retry-after": "1" }).end();
    else response.end();
  });
  const { namespace } = startWorker([{ type: "report", http: url }]);
  await putDueSchedule(namespace, "report.sales");
  const [second, first] = await waitForOutcomes(namespace, "report.sales", 2);
  expect([first?.result, second?.result]).toEqual(["retry", "ok"]);
  expect(first?.reason).toBe("it answered 503 Service Unavailable");
  const [one, two] = requests.map(({ headers }) => headers);
  expect(two?.["idempotency-key"]).toBe(one?.["idempotency-key"]);
  expect(BigInt(String(two?.["signalbox-token"]))).toBeGreaterThan(BigInt(String(one?.["signalbox-token"])));
});

test("a second stop signal aborts the request, and another worker sends it again", async () => {
  const { url, requests } = await startWebServer((response) => {
    if (requests.length > 1) response.end();
    else response.write("begun\n");
  });
  const handlers = [{ type: "report", http: url }];
  const { namespace, worker } = startWorker(handlers);
  await putDueSchedule(namespace, "report.sales");
  await worker.waitForOutput("line=begun");
  worker.kill("SIGTERM");
  await worker.waitForOutput("leaving when the running tasks have ended");
  worker.kill("SIGTERM");
  const [first] = await waitForOutcomes(namespace, "report.sales");
  expect(first).toMatchObject({ result: "released", tail: "begun" });
  await worker.ended;
  namespace.start(["worker", "--handlers", cluster.createPath(JSON.stringify({ handlers }))]);
  const [second] = await waitForOutcomes(namespace, "report.sales", 2);
  expect(second).toMatchObject({ result: "ok", code: 200 });
});

test("a certificate is checked, also against an authority that the worker's environment names", async () => {
  const folder = createTestFolder();
  const { ca, server } = await makeCertificates(folder);
  const tls = { key: readFileSync(server.key), cert: readFileSync(server.cert) };
  const { url, requests } = await startWebServer((response) => void response.end("well"), tls);
  const handlers = [{ type: "report", http: url }];
  const stranger = startWorker(handlers);
  await putDueSchedule(stranger.namespace, "report.sales");
  const [refused] = await waitForOutcomes(stranger.namespace, "report.sales");
  expect(refused).toMatchObject({ result: "failed", reason: expect.stringContaining("certificate") });
  expect(requests).toEqual([]);
  const friend = startWorker(handlers, { NODE_EXTRA_CA_CERTS: ca });
  await putDueSchedule(friend.namespace, "report.sales");
  const [last] = await waitForOutcomes(friend.namespace, "report.sales");
  expect(last).toMatchObject({ result: "ok", code: 200, tail: "well" });
});

test("a missing secret is reported at the start", async () => {
  const http = { url: "http://localhost/", secretHeaders: { authorization: "/no/such/token" } };
  const { worker } = startWorker([{ type: "report", http }]);
  expect(await worker.ended).toExit(78);
  expect(worker.output.stderr).toMatch("/no/such/token does not exist; it was named in secretHeaders");
});
