/** Who may read the page. */
import { writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTestFolder } from "../../fixtures/test-folder.ts";
import { createAccess } from "../../src/page/access.ts";
import type { ServeFlags } from "../../src/page/serve.ts";
import { parseListenAddress } from "../../src/worker/metrics/listen-address.ts";

const TOKEN = "0123456789abcdef";
const PROXY = { "trusted-header": "X-User", "trusted-proxy": ["10.0.0.0/24", "::1"] } satisfies ServeFlags;

function writeToken(text = `${TOKEN}\n`, mode = 0o600): ServeFlags {
  const file = join(createTestFolder(), "token");
  writeFileSync(file, text, { mode });
  return { "token-file": file };
}

function judge(
  listen: string,
  flags: ServeFlags,
  request: { host?: string; headers?: object; from?: string; url?: string; method?: string },
) {
  const { host = "localhost:9465", headers = {}, from = "127.0.0.1", url = "/", method = "GET" } = request;
  const access = createAccess(flags, {
    address: parseListenAddress(listen),
    names: ["Web1.example.com"],
    credentials: undefined,
  });
  const message = {
    headers: { host, ...headers },
    url,
    method,
    socket: { remoteAddress: from },
  } as unknown as IncomingMessage;
  return access(message)?.status ?? 200;
}

test.each([
  ["localhost", 200],
  ["127.0.0.1:9465", 200],
  ["[::1]:9465", 200],
  ["WEB1.example.com.", 200],
  ["jobs.example.com", 200],
  ["evil.example.com", 421],
  ["127.0.0.1.evil.example.com", 421],
  ["localhost.evil.example.com:9465", 421],
  ["", 400],
  ["a:b:c", 400],
])("the name %j is answered with %d", (host, status) => {
  expect(judge("9465", { "host-name": ["jobs.example.com"] }, { host })).toBe(status);
});

test("an absolute address is refused, as of a proxy that everyone may use", () => {
  expect(judge("9465", {}, { url: "http://evil.example.com/" })).toBe(400);
});

const basic = (password: string) => `Basic ${Buffer.from(`ann:${password}`).toString("base64")}`;

test.each([
  [`Bearer ${TOKEN}`, 200],
  [basic(TOKEN), 200],
  [undefined, 401],
  ["Bearer ", 401],
  [`Bearer ${TOKEN}x`, 401],
  [basic(TOKEN.slice(1)), 401],
  [TOKEN, 401],
  [`Digest ${TOKEN}`, 401],
])("with a token, %j is answered with %d", (authorization, status) => {
  expect(judge(":9465", writeToken(), { host: "localhost", headers: { authorization } })).toBe(status);
});

test.each([
  ["10.0.0.7", { "x-user": "ann" }, 200],
  ["::ffff:10.0.0.7", { "x-user": "ann" }, 200],
  ["::1", { "x-user": "ann" }, 200],
  ["10.0.0.7", {}, 403],
  ["10.0.0.7", { "x-user": "" }, 403],
  ["10.0.1.7", { "x-user": "ann", "x-forwarded-for": "10.0.0.7", forwarded: "for=10.0.0.7" }, 403],
])("behind a proxy, %s with %j is answered with %d", (from, headers, status) => {
  expect(judge(":9465", PROXY, { from, headers })).toBe(status);
});

test.each<[string, string, ServeFlags | (() => ServeFlags), RegExp]>([
  ["an address that others reach, without saying who may", ":9465", {}, /can be reached from other hosts/],
  ["a name, which may lead anywhere", "web1:9465", {}, /can be reached/],
  ["a header without a proxy", "9465", { "trusted-header": "X-User" }, /together/],
  ["a proxy without a header", "9465", { "trusted-proxy": ["10.0.0.1"] }, /together/],
  ["no address of a proxy", ":9465", { ...PROXY, "trusted-proxy": ["proxy"] }, /must be an address/],
  ["no network", ":9465", { ...PROXY, "trusted-proxy": ["10.0.0.0/33"] }, /must be an address/],
  ["a network of no size", ":9465", { ...PROXY, "trusted-proxy": ["10.0.0.0/"] }, /must be an address/],
  ["--open and a proxy", ":9465", { ...PROXY, open: true }, /not both/],
  ["a short token", ":9465", () => writeToken("secret\n"), /at least 16/],
  ["a token that others can read", ":9465", () => writeToken(TOKEN, 0o644), /chmod 600/],
  ["a token that does not exist", ":9465", { "token-file": "/nonexistent" }, /does not exist/],
])("refuses %s", (_, listen, flags, message) => {
  const given = typeof flags === "function" ? flags() : flags;
  expect(() => judge(listen, given, {})).toThrow(message);
});

test.each([
  ["GET", 200],
  ["HEAD", 200],
  ["POST", 405],
  ["get", 405],
  ["OPTIONS", 405],
])("the method %s is answered with %d, and tells nothing to those who may not read", (method, status) => {
  expect(judge("9465", {}, { method })).toBe(status);
  expect(judge(":9465", writeToken(), { method })).toBe(401);
});

test("--open lets everyone in, but no other name", () => {
  expect(judge(":9465", { open: true }, { host: "10.1.2.3", from: "10.9.9.9" })).toBe(200);
  expect(judge(":9465", { open: true }, { host: "evil.example.com" })).toBe(421);
});
