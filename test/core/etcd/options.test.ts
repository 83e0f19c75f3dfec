import { describe, expect, it } from "vitest";
import { ConfigError } from "../../../src/core/base/errors.ts";
import { checkStoreOptions, parseEndpoint, type StoreOptions } from "../../../src/core/etcd/options.ts";

describe("an endpoint", () => {
  it.each([
    ["localhost", false, "http://localhost:2379", "localhost", 2379],
    ["localhost", true, "https://localhost:2379", "localhost", 2379],
    ["etcd1.example.com:4001", false, "http://etcd1.example.com:4001", "etcd1.example.com", 4001],
    [" http://10.0.0.1:2379/ ", true, "http://10.0.0.1:2379", "10.0.0.1", 2379],
    ["https://etcd:443", false, "https://etcd:443", "etcd", 443],
    ["http://etcd:80", false, "http://etcd:80", "etcd", 80],
    ["https://etcd", false, "https://etcd:2379", "etcd", 2379],
    ["::1", false, "http://[::1]:2379", "::1", 2379],
    ["[::1]:4001", false, "http://[::1]:4001", "::1", 4001],
    ["http://[fe80::1]", false, "http://[fe80::1]:2379", "fe80::1", 2379],
  ])("%j (TLS %s) is %s", (text, secure, url, host, port) => {
    expect(parseEndpoint(text, secure)).toEqual({ url, host, port, secure: url.startsWith("https") });
  });

  it.each([
    "",
    "  ",
    "ftp://etcd",
    "http://",
    "etcd:port",
    "http://etcd/v3",
    "user@etcd",
    "http://u:p@etcd",
    "a b",
    "etcd:99999",
  ])("refuses %j, and quotes it", (text) => {
    expect(() => parseEndpoint(text, false)).toThrow(ConfigError);
    expect(() => parseEndpoint(text, false)).toThrow(JSON.stringify(text));
  });
});

describe("the options of a store", () => {
  const endpoints = ["http://etcd"];
  const secure = ["https://etcd"];
  const pair = { cert: "CERT", key: "KEY" };

  it.each<[what: string, options: StoreOptions, expected: "http" | "grpc"]>([
    ["nothing special", { endpoints }, "http"],
    ["an authority", { endpoints: secure, tls: { ca: "CA" } }, "http"],
    ["a client certificate without a user", { endpoints: secure, tls: pair }, "grpc"],
    ["a client certificate and a user", { endpoints: secure, tls: pair, user: "u", password: "p" }, "http"],
    ["grpc asked for", { endpoints, transport: "grpc" }, "grpc"],
    ["http asked for", { endpoints: secure, tls: pair, transport: "http" }, "http"],
    ["a process that prefers gRPC", { endpoints, prefersGrpc: true }, "grpc"],
    ["http asked for by such a process", { endpoints, transport: "http", prefersGrpc: true }, "http"],
    [
      "such a process and any certificate",
      { endpoints: secure, tls: { insecureSkipVerify: true }, prefersGrpc: true },
      "http",
    ],
  ])("with %s choose %s", (_what, options, expected) => {
    expect(checkStoreOptions(options).transport).toBe(expected);
  });

  it.each<[what: string, options: StoreOptions]>([
    ["no endpoint", { endpoints: [] }],
    ["half a key pair", { endpoints: secure, tls: { cert: "CERT" } }],
    ["a user without a password", { endpoints: secure, user: "u" }],
    ["a password without a user", { endpoints: secure, password: "p" }],
    ["TLS on a plaintext endpoint", { endpoints, tls: { ca: "CA" } }],
    ["a password in the clear", { endpoints, user: "u", password: "p" }],
    [
      "a password in the clear to one of several",
      { endpoints: [...secure, ...endpoints], user: "u", password: "p" },
    ],
  ])("refuse %s", (_what, options) => {
    expect(() => checkStoreOptions(options)).toThrow(ConfigError);
  });

  it("allow a password in the clear when told so", () => {
    expect(() =>
      checkStoreOptions({ endpoints, user: "u", password: "p", allowPlaintextPassword: true }),
    ).not.toThrow();
  });

  it("never quote the password", () => {
    for (const options of [{ endpoints, user: "u" }, { endpoints: secure }])
      expect(() => checkStoreOptions({ ...options, password: "hunter2" })).toThrow(/^((?!hunter2).)*$/);
  });
});
