import { describe, expect, test } from "vitest";
import { ConfigError, UsageError } from "../../../src/core/base/errors.ts";
import { type ConfigInput, describeConfig, resolveConfig } from "../../../src/core/config/config.ts";
import { findStrayVariables, scrubEnv } from "../../../src/core/config/scrub.ts";
import { fakeFiles, SYSTEM, USER } from "./fake-files.ts";

const SECRET = "correct horse";
const tls = { SIGNALBOX_ENDPOINTS: "https://a:1", HOME: "/home/op" };

function resolved(input: ConfigInput, files: Record<string, unknown> = {}, mode?: number, uid?: number) {
  return resolveConfig({ ...input, env: { ...tls, ...input.env }, readFile: fakeFiles(files, mode, uid) });
}

describe("where a login comes from", () => {
  test.each([
    [
      "own variables",
      { SIGNALBOX_USER: "cron", SIGNALBOX_PASSWORD: "p:w" },
      {},
      "cron",
      "p:w",
      "environment SIGNALBOX_PASSWORD",
    ],
    ["one variable", { SIGNALBOX_USER: "cron:p:w" }, {}, "cron", "p:w", "environment SIGNALBOX_USER"],
    ["etcdctl's one", { ETCDCTL_USER: "cron:pw" }, {}, "cron", "pw", "environment ETCDCTL_USER"],
    [
      "etcdctl's two, where a colon is part of the name",
      { ETCDCTL_USER: "a:b", ETCDCTL_PASSWORD: "pw" },
      {},
      "a:b",
      "pw",
      "environment ETCDCTL_PASSWORD",
    ],
    ["a file", {}, { [SYSTEM]: { user: "cron", password: "pw" } }, "cron", "pw", `${SYSTEM}: password`],
    [
      "a file of its own",
      {},
      { [SYSTEM]: { user: "cron", passwordFile: "secret" }, "/etc/signalbox/secret": "p w\n" },
      "cron",
      "p w",
      "file /etc/signalbox/secret",
    ],
    [
      "the stronger of the two",
      { SIGNALBOX_PASSWORD: "pw" },
      { [SYSTEM]: { user: "cron", passwordFile: "missing" } },
      "cron",
      "pw",
      "environment SIGNALBOX_PASSWORD",
    ],
    [
      "the stronger of the two",
      {},
      { [USER]: { passwordFile: "/s" }, [SYSTEM]: { user: "cron", password: "old" }, "/s": "new" },
      "cron",
      "new",
      "file /s",
    ],
  ])("%s", (_, env, files, user, password, source) => {
    const { values, sources } = resolved({ env }, files);
    expect([values.user, values.password, sources.password]).toEqual([user, password, source]);
  });

  test("never from the command line", () => {
    expect(() => resolved({ flags: { password: SECRET } })).toThrow(UsageError);
    expect(() => resolved({ flags: { password: SECRET } })).toThrow(
      "password cannot be given on the command line",
    );
    expect(() => resolved({ flags: { user: `cron:${SECRET}` } })).toThrow(
      "--user must not contain a password",
    );
  });
});

test.each([
  ["user only", { flags: { user: "cron" } }, {}, "user is set (flag --user), but no password"],
  [
    "password only",
    { env: { SIGNALBOX_PASSWORD: SECRET } },
    {},
    "a password is set (environment SIGNALBOX_PASSWORD), but no user",
  ],
  [
    "both kinds",
    {},
    { [SYSTEM]: { user: "c", password: SECRET, passwordFile: "/s" } },
    "password and passwordFile are both set",
  ],
  ["no such file", { flags: { user: "c", passwordFile: "/none" } }, {}, "/none does not exist"],
  ["an empty file", { flags: { user: "c", passwordFile: "/s" } }, { "/s": "\n" }, "/s must contain one line"],
  [
    "two lines",
    { flags: { user: "c", passwordFile: "/s" } },
    { "/s": `${SECRET}\nmore\n` },
    "/s must contain one line",
  ],
  [
    "no text",
    {},
    { [SYSTEM]: { user: "c", password: 12345 } },
    "password: it is not a string (not shown here)",
  ],
  [
    "certificate without key",
    { env: { ETCDCTL_CERT: "/c.pem" } },
    {},
    "cert is set (environment ETCDCTL_CERT), but key is not",
  ],
  ["key without certificate", { flags: { key: "/k.pem" } }, {}, "key is set (flag --key), but cert is not"],
])("half a login: %s", (_, input, files, message) => {
  expect(() => resolved(input, files)).toThrow(ConfigError);
  expect(() => resolved(input, files)).toThrow(message);
});

describe("a password in a file that others can get at", () => {
  const inFile = { [SYSTEM]: { user: "c", password: SECRET } };

  test.each([0o644, 0o640, 0o604, 0o620, 0o601])("mode %o is refused, with the remedy", (mode) => {
    const bits = `0${mode.toString(8)}`;
    expect(() => resolved({}, inFile, mode)).toThrow(`(mode ${bits}); run: chmod 600 ${SYSTEM}`);
    const ownFile = { "/s": SECRET };
    expect(() => resolved({ flags: { user: "c", passwordFile: "/s" } }, ownFile, mode)).toThrow(
      "chmod 600 /s",
    );
  });

  test("so is one that belongs to somebody else", () => {
    expect(() => resolved({}, inFile, 0o600, 4_242)).toThrow("belongs to user 4242");
  });

  test("one of our own will do, and without a password any", () => {
    expect(resolved({}, inFile, 0o400, process.getuid?.()).values.password).toBe(SECRET);
    expect(resolved({}, { [SYSTEM]: { ttl: "40s" } }, 0o644, 4_242).values.ttl).toBe(40_000);
  });
});

describe("a password crosses the network", () => {
  const login = { SIGNALBOX_USER: "cron", SIGNALBOX_PASSWORD: SECRET };

  test("over TLS", () => {
    expect(resolved({ env: login }).values.password).toBe(SECRET);
  });

  test("not in the clear, not even on one of several endpoints", () => {
    const env = { ...login, SIGNALBOX_ENDPOINTS: "https://a:1,http://b:2" };
    expect(() => resolved({ env })).toThrow(
      "the password would be sent to http://b:2 (environment SIGNALBOX_ENDPOINTS) without TLS",
    );
    expect(resolved({ env, flags: { allowPlaintextPassword: true } }).values.user).toBe("cron");
  });
});

describe("secrets are not shown", () => {
  test("in listings", () => {
    const rows = describeConfig(resolved({ env: { SIGNALBOX_USER: `cron:${SECRET}` } }));
    expect(rows).toContainEqual({ key: "password", value: "***", source: "environment SIGNALBOX_USER" });
    expect(JSON.stringify(rows)).not.toContain(SECRET);
  });

  test.each([
    ["bad JSON around one", {}, { [SYSTEM]: `{"password": "${SECRET}" "user": "c"}` }],
    ["bad JSON within one", {}, { [SYSTEM]: `{"password": "${SECRET}` }],
    ["a misspelt key", {}, { [SYSTEM]: { pasword: SECRET } }],
    ["an unknown key", {}, { [SYSTEM]: { etcdCredentials: SECRET } }],
    ["a wrong type", {}, { [SYSTEM]: { password: [SECRET] } }],
    ["an address with one", { flags: { endpoints: `http://cron:${SECRET}@a:1` } }, {}],
    ["a line break in one", { env: { SIGNALBOX_USER: "c", SIGNALBOX_PASSWORD: `${SECRET}\n` } }, {}],
    ["a bad user before one", { env: { ETCDCTL_USER: `\x07:${SECRET}` } }, {}],
    ["no user before one", { env: { ETCDCTL_USER: `:${SECRET}` } }, {}],
  ])("in errors: %s", (_, input, files) => {
    try {
      resolved(input, files);
      expect.unreachable();
    } catch (error) {
      const { message, stack, cause } = error as Error;
      expect(error).toMatchObject({ exitCode: expect.any(Number) });
      expect(`${message} ${stack} ${cause}`).not.toContain(SECRET);
    }
  });
});

describe("the command's environment", () => {
  const credentials = [
    ...["USER", "PASSWORD", "PASSWORD_FILE", "CERT", "KEY"].map((name) => `SIGNALBOX_${name}`),
    ...["USER", "PASSWORD", "CERT", "KEY"].map((name) => `ETCDCTL_${name}`),
  ];

  test("has none of our credentials, and everything else", () => {
    const kept = {
      PATH: "/bin",
      SIGNALBOX_PREFIX: "/x/",
      ETCDCTL_ENDPOINTS: "a:1",
      USER: "cron",
      PASSWORD: "theirs",
      EMPTY: "",
    };
    const env = {
      ...kept,
      GONE: undefined,
      ...Object.fromEntries(credentials.map((name) => [name, SECRET])),
    };
    expect(scrubEnv(env)).toEqual(kept);
    expect(env).toHaveProperty("SIGNALBOX_PASSWORD", SECRET);
  });
});

test("variables that look like ours and are not are told apart from those that are", () => {
  const env = {
    SIGNALBOX_TLL: "1s",
    SIGNALBOX_TTL: "1s",
    SIGNALBOX_TOKEN: "4",
    SIGNALBOX_WHATEVER_ELSE: "",
    PATH: "",
  };
  expect(findStrayVariables(env)).toEqual([
    { name: "SIGNALBOX_TLL", meant: "SIGNALBOX_TTL" },
    { name: "SIGNALBOX_WHATEVER_ELSE", meant: undefined },
  ]);
});
