/** Traces: contexts that are passed on, and spans that reach a collector, or do not. */
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { HostAgent } from "../../../fixtures/cluster/host-agent.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { type Collector, startCollector } from "../../../fixtures/collector.ts";
import { putDueSchedule, waitForOutcomes } from "../../../fixtures/schedule/due-schedules.ts";
import { BUNDLE } from "../../../fixtures/signalbox.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { startWebServer } from "../../../fixtures/worker/http-fixture.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLER = { TRACEPARENT: `00-${TRACE}-b7ad6b7169203331-01`, TRACESTATE: "vendor=one,other=2" };
// biome-ignore lint/suspicious/noTemplateCurlyInString: of the shell
const PRINT = ["sh", "-c", 'echo "$TRACEPARENT|${TRACESTATE-none}"'];
/** Of a trace that is not the caller's. */
const OWN = /^00-(?!0af765)[0-9a-f]{32}-[0-9a-f]{16}-01\|none\n$/;

/** Collectors that do not do what a collector should. */
const HOSTILE: [what: string, answer: Parameters<typeof startCollector>[0]][] = [
  ["never answers", () => {}],
  ["sends without end", (response) => void setInterval(() => response.write("x".repeat(65_536)), 1).unref()],
  ["refuses everything", (response) => void response.writeHead(400).end(`\x1b[31m${"no ".repeat(10_000)}`)],
  ["cuts the connection", (response) => void response.destroy()],
  ["is always busy", (response) => void response.writeHead(503, { "retry-after": "3600" }).end()],
  ["speaks no HTTP", ({ socket }) => void socket?.end("\0 220 ready\r\n\r\n")],
];

function pointTo({ url }: Pick<Collector, "url">): Record<string, string> {
  return { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_BSP_SCHEDULE_DELAY: "50" };
}

/** Waits until the span of a name has come, and returns all by their names. */
async function waitForSpans({ spans }: Collector, name: string) {
  await waitUntil(`span ${name}`, () => spans.some((span) => span.name === name));
  return Object.fromEntries(spans.map((span) => [span.name, span]));
}

test("run takes the trace of its caller over, and gives the command a context of its own", async ({
  namespace,
}) => {
  const run = await namespace.execute(["run", "--lock", "x", "--", ...PRINT], { env: CALLER });
  expect(run.stdout).toMatch(new RegExp(`^00-${TRACE}-(?!b7ad6b71)[0-9a-f]{16}-01\\|vendor=one,other=2\n$`));
});

test.each([
  ["none", {}],
  ["a malformed one", { TRACEPARENT: `00-${TRACE.toUpperCase()}-b7ad6b7169203331-01`, TRACESTATE: "a=b" }],
  ["one of zeros", { TRACEPARENT: `00-${"0".repeat(32)}-b7ad6b7169203331-01` }],
  ["one of a forbidden version", { TRACEPARENT: `ff-${TRACE}-b7ad6b7169203331-01`, TRACESTATE: "a=b" }],
  ["a state alone", { TRACESTATE: "a=b" }],
])("where the caller has %s, the command gets a new trace", async (_, env) => {
  const namespace = cluster.createNamespace();
  const run = () => namespace.execute(["run", "--lock", "x", "--", ...PRINT], { env });
  const [first, second] = [await run(), await run()];
  expect(first.stdout).toMatch(OWN);
  expect(second.stdout).toMatch(OWN);
  expect(second.stdout).not.toBe(first.stdout);
});

test("a run sends what it did, as a part of its caller's trace, and nothing else appears in its output", async ({
  namespace,
}) => {
  const collector = await startCollector();
  const env = {
    ...CALLER,
    ...pointTo(collector),
    OTEL_SERVICE_NAME: "nightly",
    OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=web",
  };
  const command = ["sh", "-c", 'echo "$TRACEPARENT"; exit 3'];
  const run = await namespace.execute(["run", "--lock", "x", "--lease", "db=1:2", "--", ...command], { env });
  expect(run).toExit(3, { stderr: "" });
  const { run: whole, claim, wait, hold, sh } = await waitForSpans(collector, "sh");
  expect(run.stdout).toBe(`00-${TRACE}-${sh?.spanId}-01\n`);
  expect(whole).toMatchObject({
    traceId: TRACE,
    parentSpanId: "b7ad6b7169203331",
    traceState: "vendor=one,other=2",
    isError: true,
    attributes: {
      "signalbox.locks": ["x"],
      "signalbox.leases": ["db=1"],
      "process.exit.code": 3,
      "error.type": "3",
    },
    resource: { "service.name": "nightly", "host.name": expect.any(String) },
  });
  expect(sh).toMatchObject({
    kind: 3,
    parentSpanId: hold?.spanId,
    attributes: {
      "process.executable.name": "sh",
      "process.exit.code": 3,
      "process.pid": expect.any(Number),
    },
  });
  expect(sh?.attributes).not.toHaveProperty("process.command_args"); // arguments can hold secrets
  expect([claim?.parentSpanId, hold?.parentSpanId]).toEqual([whole?.spanId, whole?.spanId]);
  expect(wait?.parentSpanId).toBe(claim?.spanId);
  expect(BigInt(sh?.endTimeUnixNano ?? 0)).toBeLessThanOrEqual(BigInt(hold?.endTimeUnixNano ?? 0));
  expect(collector.headers[0]).toMatchObject({ "x-tenant": "web" });
});

test("a run that finds the lock taken sends its claim", async ({ namespace }) => {
  const collector = await startCollector();
  await namespace.jobs.startHolder("first", "--lock x");
  const run = await namespace.execute("run --lock x -- true", { env: pointTo(collector) });
  expect(run).toExit(75);
  const { run: whole, ...others } = await waitForSpans(collector, "run");
  expect(whole).toMatchObject({ isError: false, attributes: { "signalbox.refusal": "busy" } });
  expect(Object.keys(others)).toEqual(["claim"]);
});

test.each([
  ["OTEL_SDK_DISABLED", { OTEL_SDK_DISABLED: "true" }],
  ["OTEL_TRACES_EXPORTER", { OTEL_TRACES_EXPORTER: "none" }],
  ["the caller's decision not to record", { TRACEPARENT: CALLER.TRACEPARENT.replace(/01$/, "00") }],
  ["OTEL_TRACES_SAMPLER", { OTEL_TRACES_SAMPLER: "always_off" }],
])("%s is respected: nothing is sent", async (_, env) => {
  const namespace = cluster.createNamespace();
  const collector = await startCollector();
  const run = await namespace.execute("run --lock x -- true", { env: { ...pointTo(collector), ...env } });
  expect(run).toExit(0, { stdout: "", stderr: "" });
  expect(collector.headers).toEqual([]);
});

test.each(HOSTILE)(
  "a collector that %s does not keep the lock, the exit code or the output from being right",
  async (_, answer) => {
    const namespace = cluster.createNamespace();
    const collector = await startCollector(answer);
    const command = ["sh", "-c", "echo done; exit 4"];
    const run = namespace.startRun("--lock x", command, { env: pointTo(collector) });
    await waitUntil("a request", () => collector.headers.length > 0);
    expect(await namespace.readQueue("x")).toEqual([]); // the claim was freed before anything was sent
    const sentAt = Date.now();
    expect(await run.ended).toExit(4, { stdout: "done\n", stderr: "" });
    expect(Date.now() - sentAt).toBeLessThan(10_000); // far below the time-outs of the packages
  },
);

test("a collector that is away costs nothing but its spans, and -v says so", async ({ namespace }) => {
  const env = pointTo({ url: "http://127.0.0.1:1" });
  expect(await namespace.execute("run --lock x -- true", { env })).toExit(0, { stdout: "", stderr: "" });
  const verbose = await namespace.execute("run -v --lock x -- true", { env });
  expect(verbose.stderr).toContain("spans are not sent");
});

test("a worker sends the spans of its tasks, and passes a context of them on to commands and hooks", async ({
  namespace,
}) => {
  const collector = await startCollector();
  const { url, requests } = await startWebServer((response) => void response.end());
  const printed = cluster.createPath();
  const hooks = {
    success: url,
    start: ["sh", "-c", `echo "$TRACEPARENT|\${TRACESTATE-none}" >> ${printed}`],
  };
  namespace.start("worker", { env: { ...CALLER, ...pointTo(collector) } });
  await putDueSchedule(namespace, "mail.ops", {
    command: ["sh", "-c", 'echo "$TRACEPARENT"; exit 0'],
    hooks,
  });
  const [last] = await waitForOutcomes(namespace, "mail.ops");
  const { "process mail": task, claim, hold, sh } = await waitForSpans(collector, "process mail");
  expect(last?.tail).toBe(`00-${task?.traceId}-${sh?.spanId}-01`);
  expect(task?.traceId).not.toBe(TRACE); // that of whoever has started the worker
  expect(task).toMatchObject({
    kind: 5,
    isError: false,
    attributes: {
      "messaging.system": "signalbox",
      "messaging.destination.name": "mail",
      "messaging.operation.type": "process",
      "signalbox.schedule": "mail.ops",
      "signalbox.run": last?.run,
      "signalbox.result": "ok",
    },
  });
  expect([claim?.parentSpanId, hold?.parentSpanId, sh?.parentSpanId]).toEqual([
    task?.spanId,
    task?.spanId,
    hold?.spanId,
  ]);
  await waitUntil("the hook is called", () => requests.length > 0);
  expect(requests[0]?.headers.traceparent).toBe(`00-${task?.traceId}-${task?.spanId}-01`);
  expect(readFileSync(printed, "utf8")).toBe(`00-${task?.traceId}-${task?.spanId}-01|none\n`);
});

test("a task is a part of the trace of the task before it, and is linked to the others", async ({
  namespace,
}) => {
  const collector = await startCollector();
  await namespace.expectDone("schedule add a.one @manual -- true");
  await namespace.expectDone("schedule add b.one @manual -- true");
  await namespace.expectDone("schedule add c.both --after a.one,b.one -- true");
  namespace.start("worker", { env: pointTo(collector) });
  await namespace.expectDone("schedule trigger a.one");
  await waitForOutcomes(namespace, "a.one");
  expect(await namespace.start("schedule trigger b.one", { env: CALLER }).ended).toExit(0);
  const { "process a": a, "process b": b, "process c": c } = await waitForSpans(collector, "process c");
  expect(b).toMatchObject({ traceId: TRACE, parentSpanId: "b7ad6b7169203331" });
  expect(c).toMatchObject({ traceId: TRACE, parentSpanId: b?.spanId, traceState: CALLER.TRACESTATE });
  expect(c?.links).toMatchObject([{ traceId: a?.traceId, spanId: a?.spanId }]);
  expect(a?.links ?? []).toEqual([]);
});

test("an HTTP task and its failure are a part of the trace in the variables of the schedule", async ({
  namespace,
}) => {
  const collector = await startCollector();
  const { url, requests } = await startWebServer((response) => void response.writeHead(404).end());
  const http = `${url}/report`;
  const file = cluster.createPath(JSON.stringify({ handlers: [{ type: "report", http }] }));
  namespace.start(`worker --handlers ${file}`, { env: pointTo(collector) });
  await putDueSchedule(namespace, "report", { env: CALLER, leases: ["db=1:1"] });
  const { "process report": task, report: call, wait } = await waitForSpans(collector, "process report");
  expect(requests[0]?.headers).toMatchObject({
    traceparent: `00-${TRACE}-${call?.spanId}-01`,
    tracestate: CALLER.TRACESTATE,
  });
  expect(task).toMatchObject({ traceId: TRACE, parentSpanId: "b7ad6b7169203331", isError: true });
  expect(call).toMatchObject({
    kind: 3,
    isError: true,
    attributes: { "http.response.status_code": 404, "error.type": "404" },
  });
  expect(wait?.parentSpanId).toBe(call?.parentSpanId); // for the lease
});

test.each(HOSTILE)(
  "a worker runs its tasks with a collector that %s, and leaves when told to",
  async (_, answer) => {
    const namespace = cluster.createNamespace();
    const collector = await startCollector(answer);
    const worker = namespace.start("worker", { env: pointTo(collector) });
    await putDueSchedule(namespace, "first", { command: ["true"] });
    await waitForOutcomes(namespace, "first");
    await waitUntil("a request", () => collector.headers.length > 0);
    await putDueSchedule(namespace, "second", { command: ["true"] });
    const [last] = await waitForOutcomes(namespace, "second");
    expect(last?.result).toBe("ok");
    expect(await worker.end()).toExit(0);
  },
);

test("the spans of a run that an agent serves are sent by the agent, to its collector", async () => {
  const [ofAgent, ofCaller] = [await startCollector(), await startCollector()];
  const host = await HostAgent.start(cluster, {}, { env: pointTo(ofAgent) });
  const env = { ...CALLER, ...pointTo(ofCaller) };
  const run = await host.namespace.execute(["run", "--lock", "x", "--", ...PRINT], { env });
  const { run: whole, sh } = await waitForSpans(ofAgent, "sh");
  expect(run.stdout).toBe(`00-${TRACE}-${sh?.spanId}-01|${CALLER.TRACESTATE}\n`);
  expect(whole).toMatchObject({ traceId: TRACE, parentSpanId: "b7ad6b7169203331", isError: false });
  const alone = await host.namespace.execute(["run", "--lock", "x", "--", ...PRINT], {
    env: { TRACESTATE: "a=b" },
  });
  expect(alone.stdout).toMatch(OWN);
  expect(ofCaller.headers).toEqual([]);
});

test("the command of a run that an agent hands over keeps the span that it knows", async () => {
  const collector = await startCollector();
  const how = { env: pointTo(collector) };
  const host = await HostAgent.start(cluster, {}, how);
  const go = cluster.createPath();
  const command = ["sh", "-c", `echo "$TRACEPARENT"; while [ ! -s ${go} ]; do sleep 0.1; done`];
  const run = host.namespace.startRun("--lock x", command);
  await run.waitForOutput("00-");
  await host.end();
  await host.start(how);
  writeFileSync(go, "go");
  const { stdout } = await run.ended;
  const { run: whole, sh } = await waitForSpans(collector, "sh");
  expect(stdout).toBe(`00-${whole?.traceId}-${sh?.spanId}-01\n`);
});

test("a run without a collector loads no package, and one whose packages are missing runs all the same", async ({
  namespace,
}) => {
  const { url } = await startCollector();
  const copy = createTestFolder();
  cpSync(dirname(BUNDLE), copy, { recursive: true });
  rmSync(join(copy, "modules"), { recursive: true });
  const words = "run -v --lock x -- true";
  const options = { bundle: join(copy, "signalbox.cjs") };
  const silent = await namespace.execute(words, options);
  expect(silent).toExit(0);
  expect(silent.stderr).not.toContain("spans");
  const failing = await namespace.execute(words, { ...options, env: pointTo({ url }) });
  expect(failing).toExit(0, { stderr: /spans are not sent .*opentelemetry/ });
});
