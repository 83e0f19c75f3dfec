import { chmodSync, copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import { expect, test } from "vitest";
import { makeCertificates } from "../../../fixtures/etcd/certificates.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { createHandlerFixture, createTask, writeTestFile } from "../../../fixtures/worker/handler-fixture.ts";
import { readHttpSpec, startWebServer } from "../../../fixtures/worker/http-fixture.ts";
import { HttpHandler, parseRetryAfter } from "../../../src/worker/handlers/http-handler.ts";

const createHandler = (http: unknown, timeout?: number) =>
  new HttpHandler(createHandlerFixture().ports, { http: readHttpSpec(http), timeout });
const NEVER = () => {};

function writeSecret(text: string) {
  const file = writeTestFile("secret", text);
  chmodSync(file, 0o600);
  return file;
}

test("a request has the task as JSON, its identity in headers, and its response becomes the tail", async () => {
  const { url, requests } = await startWebServer(
    (response) => void response.writeHead(202).end("line 1\nline 2\n"),
  );
  const { ports, lines } = createHandlerFixture();
  const task = { ...createTask({ data: { to: "ops" } }), id: "reports.ä b" };
  const handler = new HttpHandler(ports, {
    http: readHttpSpec({ url: `${url}/run?x=1`, headers: { "X-Team": "ops" } }),
  });
  expect(await handler.run(task)).toEqual({ result: "ok", code: 202, tail: "line 1\nline 2" });
  expect(lines).toEqual(["line 1", "line 2"]);
  const [{ method, path, headers, body } = { body: "" }] = requests;
  expect([method, path]).toEqual(["POST", "/run?x=1"]);
  expect(headers).toMatchObject({
    "content-type": "application/json",
    "x-team": "ops",
    "user-agent": "signalbox",
    "idempotency-key": "reports.%C3%A4%20b@2026-11-21T12:00:00.000Z",
    "signalbox-schedule": "reports.%C3%A4%20b",
    "signalbox-scheduled": "2026-11-21T12:00:00.000Z",
    "signalbox-attempt": "2",
    "signalbox-run": task.run,
    "signalbox-token": "77",
  });
  expect(JSON.parse(body)).toMatchObject({ id: "reports.ä b", token: "77", data: { to: "ops" } });
  await handler.run({ ...task, host: "web1" });
  expect(requests[1]?.headers["idempotency-key"], "each host has its own occurrence").toBe(
    "reports.%C3%A4%20b@2026-11-21T12:00:00.000Z@web1",
  );
  expect(JSON.parse(requests[1]?.body ?? "")).toMatchObject({ host: "web1" });
});

test.each([
  [{ method: "GET" }, "", undefined],
  [{ method: "DELETE" }, "", undefined],
  [{ method: "PUT", body: "data" }, '{"to":"ops"}', "application/json"],
  [{ body: "none" }, "", undefined],
  [
    { body: { text: "a=1" }, headers: { "Content-Type": "application/x-www-form-urlencoded" } },
    "a=1",
    "application/x-www-form-urlencoded",
  ],
  [{ body: { text: "ü" } }, "ü", "text/plain; charset=utf-8"],
])("the body of %j", async (more, body, type) => {
  const { url, requests } = await startWebServer();
  expect(await createHandler({ url, ...more }).run(createTask({ data: { to: "ops" } }))).toMatchObject({
    result: "ok",
  });
  expect(requests.map((one) => [one.body, one.headers["content-type"]])).toEqual([[body, type]]);
});

test.each([
  [204, {}, {}, { result: "ok", code: 204 }],
  [404, {}, {}, { result: "failed", code: 404, reason: "it answered 404 Not Found" }],
  [599, {}, {}, { result: "failed", code: 599, reason: "it answered 599" }],
  [
    429,
    { "retry-after": "7" },
    {},
    { result: "retry", wait: 7_000, code: 429, reason: "it answered 429 Too Many Requests" },
  ],
  [
    503,
    { "retry-after": "0" },
    {},
    { result: "retry", wait: 1_000, code: 503, reason: "it answered 503 Service Unavailable" },
  ],
  [
    503,
    { "retry-after": "soon" },
    {},
    { result: "failed", code: 503, reason: "it answered 503 Service Unavailable" },
  ],
  [429, {}, {}, { result: "failed", code: 429, reason: "it answered 429 Too Many Requests" }],
  [
    500,
    { "retry-after": "7" },
    {},
    { result: "failed", code: 500, reason: "it answered 500 Internal Server Error" },
  ],
  [409, {}, { expect: ["200-204", 409] }, { result: "ok", code: 409 }],
  [
    205,
    {},
    { expect: ["200-204", 409] },
    { result: "failed", code: 205, reason: "it answered 205 Reset Content" },
  ],
  [503, { "retry-after": "7" }, { expect: "5xx" }, { result: "ok", code: 503 }],
  [302, { location: "/other" }, { expect: 302 }, { result: "ok", code: 302 }],
])("the response %i %j to %j", async (status, headers, more, result) => {
  const { url } = await startWebServer((response) => void response.writeHead(status, headers).end());
  expect(await createHandler({ url, ...more }).run(createTask())).toEqual(result);
});

test.each([
  [undefined, undefined],
  ["", undefined],
  ["-5", undefined],
  ["120", 120_000],
  ["99999999999999999999", 86_400_000],
  ["Sat, 21 Nov 2026 12:01:00 GMT", 60_000],
  ["Sat, 21 Nov 2020 12:01:00 GMT", 1_000],
  ["Sat, 21 Nov 2099 12:01:00 GMT", 86_400_000],
])("Retry-After: %s", (text, wait) => {
  expect(parseRetryAfter(text, Date.UTC(2026, 10, 21, 12))).toBe(wait);
});

test("headers from files are read for every request, and appear in no output", async () => {
  const { url, requests } = await startWebServer(
    (response, { headers }) =>
      void response.writeHead(400).end(`no: ${headers.authorization} ${headers["x-key"]}`),
  );
  const [token, key] = [writeSecret("t0ken-one\n"), writeSecret("Basic c2VjcmV0")];
  const secretHeaders = { Authorization: { file: token, prefix: "Bearer " }, "X-Key": key };
  const handler = createHandler({ url, secretHeaders });
  expect(await handler.run(createTask())).toMatchObject({ result: "failed", tail: "no: Bearer *** ***" });
  writeFileSync(token, "t0ken-two\n");
  expect(await handler.run(createTask())).toMatchObject({ tail: "no: Bearer *** ***" });
  expect(requests.map(({ headers }) => [headers.authorization, headers["x-key"]])).toEqual([
    ["Bearer t0ken-one", "Basic c2VjcmV0"],
    ["Bearer t0ken-two", "Basic c2VjcmV0"],
  ]);
});

test("a server that asks for a certificate gets the client's, which is read for every request", async () => {
  const certificates = await makeCertificates(createTestFolder());
  const { server } = certificates;
  const [ann, bob] = [await certificates.issueClient("ann"), await certificates.issueClient("bob")];
  const names: unknown[] = [];
  const answer = (response: ServerResponse) => {
    names.push((response.socket as TLSSocket).getPeerCertificate().subject.CN);
    response.end();
  };
  const [cert, key, ca] = [server.cert, server.key, certificates.ca].map((path) => readFileSync(path));
  const { url } = await startWebServer(answer, {
    key,
    cert,
    ca,
    requestCert: true,
    rejectUnauthorized: true,
  });
  const run = (more: object) => createHandler({ url, cacert: certificates.ca, ...more }).run(createTask());
  expect(await run({})).toMatchObject({
    result: "failed",
    reason: expect.stringMatching(/certificate|ECONNRESET/),
  });

  const handler = createHandler({ url, cacert: certificates.ca, ...ann });
  expect(await handler.run(createTask())).toEqual({ result: "ok", code: 200 });
  for (const part of ["cert", "key"] as const) copyFileSync(bob[part], ann[part]);
  expect(await handler.run(createTask())).toEqual({ result: "ok", code: 200 });
  expect(names).toEqual(["ann", "bob"]);
  expect(await createHandler({ url, ...ann }).run(createTask())).toMatchObject({
    result: "failed",
    reason: expect.stringMatching(/self-signed|unable to/),
  });

  expect(() => createHandler({ url, cert: ann.cert })).toThrow(
    "cert and key must be given together; got only cert",
  );
  expect(() => createHandler({ url, cert: ann.key, key: ann.key })).toThrow(
    /^cert: .* has no certificate in PEM$/,
  );
  expect(() => createHandler({ url, cert: server.cert, key: bob.key })).toThrow(/cannot be used: .*mismatch/);
  chmodSync(ann.key, 0o644);
  expect(() => createHandler({ url, ...ann })).toThrow(/^key: .* can be read by everybody; run: chmod o= /);
});

test.each([
  ["a\nb\n", 0o600, /must contain one line, the secret$/],
  ["a\x01", 0o600, /has a character that a header cannot contain$/],
  ["a", 0o644, "contains a password, but other users have access to it"],
])("the secret %j with mode %i is refused", (text, mode, message) => {
  const file = writeTestFile("secret", text);
  chmodSync(file, mode);
  expect(() => createHandler({ url: "http://a", secretHeaders: { a: file } })).toThrow(message);
});

test("a secret that is gone fails the task, and nothing is sent", async () => {
  const { url, requests } = await startWebServer();
  const secret = writeSecret("t0ken");
  const handler = createHandler({ url, secretHeaders: { authorization: secret } });
  rmSync(secret);
  await expect(handler.run(createTask())).rejects.toThrow(
    /secret does not exist; it was named in secretHeaders$/,
  );
  expect(requests).toEqual([]);
});

test("redirects are not followed unless the file says so", async () => {
  const { url, requests } = await startWebServer((response, { path }) => {
    if (path === "/end") response.end("here");
    else response.writeHead(path === "/keep" ? 307 : 303, { location: "/end" }).end("not here");
  });
  expect(await createHandler({ url: `${url}/a` }).run(createTask())).toMatchObject({
    result: "failed",
    code: 303,
    tail: "not here",
    reason: `it answered 303 See Other, a redirect to ${url}`,
  });
  for (const path of ["/a", "/keep"])
    expect(await createHandler({ url: url + path, redirects: 1 }).run(createTask())).toEqual({
      result: "ok",
      code: 200,
      tail: "here",
    });
  expect(
    requests.map(({ method, path, body, headers }) => [method, path, body !== "", "content-type" in headers]),
  ).toEqual([
    ["POST", "/a", true, true],
    ["POST", "/a", true, true],
    ["GET", "/end", false, false],
    ["POST", "/keep", true, true],
    ["POST", "/end", true, true],
  ]);
});

test("another server, to which a request is redirected, gets no configured header and no checkpoint", async () => {
  const other = await startWebServer();
  const first = await startWebServer(
    (response) => void response.writeHead(308, { location: other.url }).end(),
  );
  const more = { headers: { "X-A": "1" }, secretHeaders: { authorization: writeSecret("hunter2") } };
  const task = Object.assign(createTask(), { checkpoint: "page 7" });
  const handler = createHandler({ url: first.url, redirects: 1, ...more });
  expect(await handler.run(task)).toMatchObject({ result: "ok" });
  const listOwn = ({ headers }: { headers: object }) =>
    Object.keys(headers).filter((name) => /^(x-a|authorization|signalbox-(checkpoint|token))$/.test(name));
  expect(first.requests.map(listOwn)).toEqual([
    expect.arrayContaining(["x-a", "authorization", "signalbox-checkpoint", "signalbox-token"]),
  ]);
  expect(other.requests.map(listOwn)).toEqual([["signalbox-token"]]);
});

test.each(["lost", "replaced", "released"] as const)(
  "a task that was %s aborts its request",
  async (result) => {
    const { url, requests } = await startWebServer((response) => void response.write("begun\n"));
    const { ports, lines } = createHandlerFixture();
    const task = createTask();
    const running = new HttpHandler(ports, { http: readHttpSpec(url) }).run(task);
    await waitUntil("the response begins", () => lines.includes("begun"));
    task.end(result);
    expect(await running).toEqual({ result, reason: `it was ${result}`, tail: "begun" });
    expect(requests).toHaveLength(1);
  },
);

test("a task that ended before sends nothing", async () => {
  const { url, requests } = await startWebServer();
  const task = createTask();
  task.end("replaced");
  expect(await createHandler(url).run(task)).toMatchObject({ result: "replaced" });
  expect(requests).toEqual([]);
});

test("without renewals the request is aborted before the horizon; with one it goes on", async () => {
  const { url } = await startWebServer((response, { headers }) => {
    if (headers["signalbox-attempt"] === "9") response.end();
  });
  const task = createTask();
  task.extend(700);
  expect(await createHandler(url).run(task)).toMatchObject({ result: "lost" });

  const arrived = Promise.withResolvers<() => void>();
  const slow = await startWebServer((response) => arrived.resolve(() => void response.end("done")));
  const longer = createTask();
  longer.extend(400); // less than a request needs: it waits for the renewal
  const running = createHandler(slow.url).run(longer);
  longer.extend(20_000);
  (await arrived.promise)();
  expect(await running).toMatchObject({ result: "ok", tail: "done" });
});

test("the timeout of the definition comes before that of the handler", async () => {
  const { url } = await startWebServer(NEVER);
  const timeout = { result: "timeout", reason: "no complete response within 50ms" };
  expect(await createHandler(url, 50).run(createTask())).toEqual(timeout);
  expect(await createHandler(url, 60_000).run(createTask({ timeout: 50 }))).toEqual(timeout);
});

test("a server that does not listen is a failure", async () => {
  expect(await createHandler("http://127.0.0.1:1/").run(createTask())).toEqual({
    result: "failed",
    reason: "connect ECONNREFUSED 127.0.0.1:1",
  });
});
