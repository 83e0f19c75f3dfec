import { describe, expect, test } from "vitest";
import { findDifferentSetting } from "../../src/agent/serve-call.ts";
import { createCall } from "../../src/cli/commands/run/execute-run.ts";
import { findForeignPath } from "../../src/cli/frame/call-note.ts";
import type { Call } from "../../src/cli/frame/command.ts";
import { resolveConfig } from "../../src/core/config/config.ts";
import type { Flags } from "../../src/core/config/layers.ts";

const readFile = () => undefined;
const resolveFlags = (flags: Flags) => resolveConfig({ flags, readFile }).values;

test.each([
  [{}, {}, undefined],
  [{ endpoints: "http://a:1,http://b:1" }, { endpoints: "http://a:1" }, "endpoints"],
  [{ prefix: "/x/" }, {}, "prefix"],
  [{}, { insecureSkipTlsVerify: true }, "insecureSkipTlsVerify"],
  [{ clusterId: "1f" }, {}, "clusterId"],
  [{}, { serverName: "etcd" }, "serverName"],
  [{ ttl: "60s", label: "x", connectTimeout: "1s" }, { ttl: "30s" }, undefined],
])("a call differs from the agent: %j against %j: %s", (own, asked, different) => {
  expect(findDifferentSetting(resolveFlags(own), resolveFlags(asked))).toBe(different);
});

test.each([
  ["one", "one", undefined],
  ["one", "two", "endpoints"],
  ["two", "same", undefined],
])("an agent of the context %s and a call of the context %s: %s", (own, asked, different) => {
  const two = { endpoints: "http://b:2", ttl: "60s" };
  const text = JSON.stringify({
    contexts: { one: { endpoints: "http://a:1" }, two, same: { ...two, ttl: "40s" } },
  });
  const read = () => ({ text, mode: 0o600, uid: 0 });
  const resolveContext = (context: string) =>
    resolveConfig({ flags: { config: "/c.json", context }, readFile: read });
  expect(findDifferentSetting(resolveContext(own).values, resolveContext(asked).values)).toBe(different);
});

describe("a path that the agent cannot use for a caller", () => {
  const withSettings = (settings: Call["settings"]): Call => ({ ...createCall({}, []), settings });
  test.each([
    [{}, {}, true, undefined],
    [{ logFile: "/var/log/x" }, {}, true, undefined],
    [{ logFile: "x.log" }, {}, true, "x.log"],
    [{ config: "c.json" }, {}, true, "c.json"],
    [{}, { SIGNALBOX_CONFIG: "c.json" }, true, "c.json"],
    [{}, { SIGNALBOX_CACERT: "/etc/ca.pem" }, true, undefined],
    [{}, { SIGNALBOX_CACERT: "/etc/ca.pem" }, false, "/etc/ca.pem"],
    [{}, { ETCDCTL_CACERT: "/etc/ca.pem" }, false, "/etc/ca.pem"],
    [{ logFile: "/var/log/x" }, {}, false, "/var/log/x"],
    [{ agentSocket: "/tmp/s" }, { SIGNALBOX_AGENT_SOCKET: "/tmp/s" }, false, undefined],
    [{ ttl: "30s" }, { SIGNALBOX_LABEL: "../x" }, false, undefined],
  ])("%j, %j, own user %s: %s", (settings, env, isOwnUser, path) => {
    expect(findForeignPath(withSettings(settings), env, isOwnUser)).toBe(path);
  });
});
