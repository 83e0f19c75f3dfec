import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { writeTestFile } from "../../../fixtures/worker/handler-fixture.ts";
import { readHttpSpec } from "../../../fixtures/worker/http-fixture.ts";
import { readWorkerFile } from "../../../src/worker/file/worker-file.ts";

const DEFAULTS = {
  method: "POST",
  headers: {},
  secretHeaders: {},
  expect: [{ from: 200, to: 299 }],
  redirects: 0,
};

test("a URL alone, and everything that can stand beside it", () => {
  expect(readHttpSpec("https://a/b")).toEqual({ url: "https://a/b", ...DEFAULTS });
  const spec = {
    url: "http://a/",
    method: "PUT",
    headers: { "X-A": "1" },
    body: { text: "x" },
    redirects: 2,
    secretHeaders: { Authorization: { file: "t", prefix: "Bearer " }, "X-Key": "/k" },
    expect: [204, "200-202", "4xx"],
  };
  expect(readHttpSpec(spec)).toEqual({
    ...spec,
    headers: { "x-a": "1" },
    secretHeaders: { authorization: { file: "t", prefix: "Bearer " }, "x-key": { file: "/k", prefix: "" } },
    expect: [
      { from: 204, to: 204 },
      { from: 200, to: 202 },
      { from: 400, to: 499 },
    ],
  });
});

test.each([
  ["ftp://a/", 'url: "ftp://a/" is not a URL with http:// or https://'],
  ["https://ann:hunter2@a/", "url: it contains a user or a password; put them into a file"],
  [{}, "it has no url"],
  [{ url: "http://a", methods: "GET" }, "methods: unknown key; did you mean method?"],
  [{ url: "http://a", method: "get" }, 'method: "get" is not one of GET, HEAD, POST'],
  [
    { url: "http://a", headers: { a: 5 } },
    'the value "5" of "a" is not a text for a header; put numbers in quotes',
  ],
  [{ url: "http://a", headers: { a: "b\r\nc: d" } }, "is not a text for a header"],
  [{ url: "http://a", headers: { "a b": "c" } }, 'headers: "a b" is not the name of a header'],
  [
    { url: "http://a", headers: { "Signalbox-Token": "1" } },
    '"Signalbox-Token" is a header that signalbox sets',
  ],
  [
    { url: "http://a", secretHeaders: { a: {} } },
    "secretHeaders.a: it needs exactly one of file and credential",
  ],
  [{ url: "http://a", cert: 5 }, 'cert: "5" is not a path'],
  [
    { url: "http://a", body: "all" },
    'body: "all" is not one of task, data, none, and not an object with a text',
  ],
  [
    { url: "http://a", expect: 99 },
    'expect: "99" is not a status from 200 to 599, such as 204, 200-204 or 2xx',
  ],
  [{ url: "http://a", expect: ["204-200"] }, 'expect.0: "204-200" is not a status'],
  [{ url: "http://a", expect: [] }, "expect: it names no status"],
  [{ url: "http://a", redirects: 11 }, 'redirects: "11" is not a whole number from 0 to 10'],
])("%j is refused", (value, message) => {
  expect(() => readHttpSpec(value)).toThrow(message);
});

test.each([
  ["{ type: a, http: http://a, command: b }", "it needs exactly one of command, module and http"],
  ["{ type: a, http: http://a, env: { A: b } }", ".env: a request has no variables"],
  [
    "{ type: a, http: http://a, retryWait: 5m }",
    ".retryWait: a request is repeated after the time in Retry-After",
  ],
])("the handler %s is refused", (handler, message) => {
  expect(() => readWorkerFile(writeTestFile("handlers.yaml", `handlers: [${handler}]`))).toThrow(message);
});

test("the paths of secrets and certificates are relative to the file", () => {
  const file = writeTestFile(
    "h.yaml",
    "handlers: [{ type: a, http: { url: http://a, secretHeaders: { b: ./t, c: /u }, cert: ./c, key: /k } }]",
  );
  const beside = (name: string) => join(dirname(file), name);
  expect(readWorkerFile(file).handlers[0]?.http).toMatchObject({
    secretHeaders: { b: { file: beside("t"), prefix: "" }, c: { file: "/u", prefix: "" } },
    cert: beside("c"),
    key: "/k",
  });
});

test("the example is a worker's file", () => {
  const example = resolve(import.meta.dirname, "../../../examples/http-worker.yaml");
  const { handlers } = readWorkerFile(writeTestFile("h.yaml", readFileSync(example, "utf8")));
  expect(handlers.map(({ type, http }) => [type, http?.method])).toEqual([
    ["ping", "GET"],
    ["report", "POST"],
  ]);
});
