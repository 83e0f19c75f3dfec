import { describe, expect, test } from "vitest";
import { ConfigError, UsageError } from "../../../src/core/base/errors.ts";
import { describeConfig } from "../../../src/core/config/config.ts";
import { catchFailure, resolveSettings, SYSTEM, USER } from "./fake-files.ts";

const CONTEXTS = {
  prod: { endpoints: ["https://etcd.prod:2379"], prefix: "/prod/", readOnly: true, ttl: "60s" },
  staging: { endpoints: "http://etcd.staging:2379" },
};

const PROD = { contexts: CONTEXTS, context: "prod" };

test.each([
  ["none is", {}, { [USER]: { contexts: CONTEXTS } }, undefined, "default"],
  ["a file names it", {}, { [USER]: PROD }, "prod", `${USER}: context`],
  [
    "the user's file is stronger than the system's",
    {},
    { [USER]: { context: "staging" }, [SYSTEM]: PROD },
    "staging",
    `${USER}: context`,
  ],
  [
    "a variable is stronger than files",
    { env: { SIGNALBOX_CONTEXT: "staging" } },
    { [USER]: PROD },
    "staging",
    "environment SIGNALBOX_CONTEXT",
  ],
  [
    "an empty variable counts as unset",
    { env: { SIGNALBOX_CONTEXT: "" } },
    { [USER]: PROD },
    "prod",
    `${USER}: context`,
  ],
  [
    "a flag is stronger than a variable",
    { flags: { context: "prod" }, env: { SIGNALBOX_CONTEXT: "staging" } },
    { [USER]: { contexts: CONTEXTS } },
    "prod",
    "flag --context",
  ],
])("which context is active: %s", (_, input, files, name, source) => {
  const { values, sources } = resolveSettings(input, files);
  expect([values.context, sources.context]).toEqual([name, source]);
});

describe("the settings of the active context", () => {
  const file = { ...PROD, prefix: "/top/", label: "kept", ttl: "50s" };

  test("override the rest of the file, which fills what they leave open", () => {
    const { values, sources, contexts } = resolveSettings({}, { [USER]: file });
    expect(values).toMatchObject({ prefix: "/prod/", readOnly: true, label: "kept", ttl: 60_000 });
    expect(sources).toMatchObject({
      prefix: `context prod of ${USER}: prefix`,
      label: `${USER}: label`,
      transport: "default",
    });
    expect(contexts).toEqual([
      { name: "prod", files: [USER] },
      { name: "staging", files: [USER] },
    ]);
  });

  test.each([
    ["SIGNALBOX_*", { env: { SIGNALBOX_ENDPOINTS: "http://x:1" } }, "environment SIGNALBOX_ENDPOINTS"],
    ["ETCDCTL_*", { env: { ETCDCTL_ENDPOINTS: "http://x:1" } }, "environment ETCDCTL_ENDPOINTS"],
    ["flags", { flags: { endpoints: "http://x:1" } }, "flag --endpoints"],
  ])("are overridden by %s", (_, input, source) => {
    const { values, sources, overridden } = resolveSettings(input, { [USER]: file });
    expect(values.endpoints).toEqual(["http://x:1"]);
    expect(sources.endpoints).toBe(source);
    expect(overridden).toEqual(["endpoints"]);
  });

  test("override also the user's file if the context is in the system's", () => {
    const files = { [USER]: { ttl: "50s", context: "prod" }, [SYSTEM]: { contexts: CONTEXTS } };
    expect(resolveSettings({}, files).sources.ttl).toBe(`context prod of ${SYSTEM}: ttl`);
  });

  test("of one name in both files are both used, the user's first", () => {
    const files = {
      [USER]: { contexts: { prod: { prefix: "/mine/" } } },
      [SYSTEM]: { contexts: CONTEXTS },
    };
    const { values, contexts } = resolveSettings({ flags: { context: "prod" } }, files);
    expect(values).toMatchObject({ prefix: "/mine/", readOnly: true });
    expect(contexts[0]).toEqual({ name: "prod", files: [USER, SYSTEM] });
  });

  test("have paths beside their file, and may take the password from one", () => {
    const own = { endpoints: "https://a:1", user: "op", passwordFile: "secret", cacert: "ca.pem" };
    const files = { [SYSTEM]: { contexts: { a: own } }, "/etc/signalbox/secret": "hush\n" };
    const config = resolveSettings({ flags: { context: "a" } }, files);
    expect(config.values).toMatchObject({ password: "hush", cacert: "/etc/signalbox/ca.pem" });
    expect(JSON.stringify(describeConfig(config))).not.toContain("hush");
  });
});

describe("what is wrong is named with its place", () => {
  test.each([
    [[], "contexts: it is not a set of contexts"],
    [{ "a b": {} }, 'contexts: "a b" cannot be used: the name of a context has'],
    [{ "a\x1b[31m": {} }, 'contexts: "a\\u001b[31m" cannot be used'],
    [{ prod: 5 }, "contexts.prod: it is not an object with settings"],
    [{ prod: { ttl: 5 } }, "contexts.prod.ttl: 5 is not a duration"],
    [{ prod: { endpoint: ["http://a:1"] } }, 'contexts.prod: unknown setting "endpoint"'],
    [{ prod: { contexts: {} } }, 'contexts.prod: a context cannot have "contexts"'],
    [{ prod: { context: "x" } }, 'contexts.prod: a context cannot have "context"'],
    [JSON.parse('{"__proto__": {}}'), 'contexts: "__proto__" cannot be used'],
  ])("%j, though another context is active", (contexts, message) => {
    const files = { [SYSTEM]: { contexts }, [USER]: { contexts: CONTEXTS, context: "staging" } };
    const error = catchFailure({}, files);
    expect(error).toBeInstanceOf(ConfigError);
    expect(error.message).toContain(`${SYSTEM}: ${message}`);
    expect(error.message).not.toContain("\x1b");
  });

  test.each([
    [{ flags: { context: "prd" } }, UsageError, '--context: there is no context "prd"; did you mean prod? '],
    [
      { env: { SIGNALBOX_CONTEXT: "zzz" } },
      ConfigError,
      'SIGNALBOX_CONTEXT: there is no context "zzz"; known',
    ],
  ])("an unknown context: %j", (input, kind, message) => {
    const error = catchFailure(input, { [USER]: { contexts: CONTEXTS } });
    expect(error).toBeInstanceOf(kind);
    expect(error.message).toContain(message);
    expect(error.message).toContain("known contexts: prod, staging");
  });

  test("an unknown context without any says what to add", () => {
    expect(catchFailure({}, { [USER]: { context: "prod" } }).message).toContain(
      `${USER}: context: there is no context "prod": the configuration has no contexts; add "contexts": {`,
    );
  });

  test("a password in a context needs a private file, and is never shown", () => {
    const files = { [USER]: { contexts: { prod: { user: "op", password: "hush" } } } };
    expect(catchFailure({}, files, 0o644).message).toContain(
      "contains a password, but other users have access",
    );
    const bad = { [USER]: { contexts: { prod: { pasword: "hush" } } } };
    expect(catchFailure({}, bad).message).not.toContain("hush");
  });
});
