import { describe, expect, test } from "vitest";
import { ConfigError, UsageError } from "../../../src/core/base/errors.ts";
import { type ConfigInput, describeConfig, describeSettings } from "../../../src/core/config/config.ts";
import { SETTING_KEYS } from "../../../src/core/config/settings.ts";
import { catchFailure, resolveSettings, SYSTEM, USER } from "./fake-files.ts";

test("defaults: hold where nothing is said", () => {
  const { values, sources, files } = resolveSettings({});
  expect(values).toMatchObject({
    endpoints: ["http://127.0.0.1:2379"],
    prefix: "/signalbox/",
    transport: "auto",
    ttl: 30_000,
    terminationTimeout: 10_000,
    busyExitCode: 75,
    history: true,
    logLevel: "warn",
    macros: {},
    host: undefined,
  });
  expect(new Set(Object.values(sources))).toEqual(new Set(["default"]));
  expect(Object.keys(values)).toEqual(SETTING_KEYS);
  expect(files).toEqual([]);
});

describe("precedence", () => {
  const everywhere: [string, ConfigInput, Record<string, unknown>][] = [
    ["flag --ttl", { flags: { ttl: "21s" } }, {}],
    ["environment SIGNALBOX_TTL", { env: { SIGNALBOX_TTL: "22s" } }, {}],
    [`${USER}: ttl`, {}, { [USER]: { ttl: "23s" } }],
    [`${SYSTEM}: ttl`, {}, { [SYSTEM]: { ttl: "24s" } }],
    ["default", {}, {}],
  ];

  test.each(everywhere.map(([source], rank) => [source, rank] as const))(
    "%s is stronger than all after it",
    (source, rank) => {
      const rest = everywhere.slice(rank);
      const input = Object.assign({}, ...rest.map(([, one]) => one)) as ConfigInput;
      const files = Object.assign({}, ...rest.map(([, , one]) => one)) as Record<string, unknown>;
      const { values, sources } = resolveSettings(input, files);
      expect(sources.ttl).toBe(source);
      expect(values.ttl).toBe([21_000, 22_000, 23_000, 24_000, 30_000][rank]);
    },
  );

  test("our variables are stronger than etcdctl's, those stronger than files", () => {
    const env = { SIGNALBOX_ENDPOINTS: "http://a:1", ETCDCTL_ENDPOINTS: "http://b:2,http://c:3" };
    const files = { [SYSTEM]: { endpoints: ["http://d:4"] } };
    expect(resolveSettings({ env }, files).values.endpoints).toEqual(["http://a:1"]);
    const etcdctl = resolveSettings({ env: { ETCDCTL_ENDPOINTS: env.ETCDCTL_ENDPOINTS } }, files);
    expect(etcdctl.values.endpoints).toEqual(["http://b:2", "http://c:3"]);
    expect(etcdctl.sources.endpoints).toBe("environment ETCDCTL_ENDPOINTS");
  });

  test("an empty variable counts as unset", () => {
    expect(resolveSettings({ env: { SIGNALBOX_TTL: "" } }, { [SYSTEM]: { ttl: "24s" } }).values.ttl).toBe(
      24_000,
    );
  });

  test("a setting is replaced as a whole", () => {
    const files = { [USER]: { macros: { A: 1 } }, [SYSTEM]: { macros: { B: 2 }, label: "kept" } };
    expect(resolveSettings({}, files).values).toMatchObject({ macros: { A: 1 }, label: "kept" });
  });

  test("0 takes a limit back", () => {
    const { values, sources } = resolveSettings(
      { flags: { timeout: "0" } },
      { [SYSTEM]: { timeout: "1h", maxHold: 0 } },
    );
    expect([values.timeout, sources.timeout]).toEqual([undefined, "flag --timeout"]);
    expect(values.maxHold).toBeUndefined();
  });

  test("what etcdctl alone understands does no harm where it is overruled", () => {
    const env = { ETCDCTL_ENDPOINTS: "unix:///run/etcd.sock", SIGNALBOX_ENDPOINTS: "http://a:1" };
    expect(resolveSettings({ env }).values.endpoints).toEqual(["http://a:1"]);
    expect(catchFailure({ env: { ETCDCTL_ENDPOINTS: env.ETCDCTL_ENDPOINTS } }).message).toContain(
      "ETCDCTL_ENDPOINTS:",
    );
  });
});

describe("values", () => {
  test.each([
    [
      { endpoints: "a:1, https://b.example.com:2/" },
      { endpoints: ["http://a:1", "https://b.example.com:2"] },
    ],
    [
      { endpoints: ["http://A:1", "http://[::1]:2379,http://a:1"] },
      { endpoints: ["http://a:1", "http://[::1]:2379"] },
    ],
    [{ endpoints: "a:1", cacert: "/ca.pem" }, { endpoints: ["https://a:1"] }],
    [{ prefix: "/locks" }, { prefix: "/locks/" }],
    [{ clusterId: "CDF818194E3A8C32" }, { clusterId: "cdf818194e3a8c32" }],
    [{ clusterId: "14841639068965178418" }, { clusterId: "cdf818194e3a8c32" }],
    [{ clusterId: "0x0abc" }, { clusterId: "abc" }],
    [{ history: false }, { history: false }],
    [{ recordArgs: true }, { recordArgs: true }],
    [{ busyExitCode: "0" }, { busyExitCode: 0 }],
    [{ grace: "1m" }, { grace: 60_000 }],
    [{ logLevel: "debug" }, { logLevel: "debug" }],
    [
      { ttl: "60s", terminationTimeout: "47s" },
      { ttl: 60_000, terminationTimeout: 47_000 },
    ],
  ])("flags %j", (flags, values) => {
    expect(resolveSettings({ flags }).values).toMatchObject(values);
  });

  test.each([
    [{ SIGNALBOX_HISTORY: "no" }, { history: false }],
    [{ SIGNALBOX_READ_ONLY: "1" }, { readOnly: true }],
    [{ SIGNALBOX_INSECURE_SKIP_TLS_VERIFY: "TRUE" }, { insecureSkipTlsVerify: true }],
    [{ ETCDCTL_INSECURE_SKIP_TLS_VERIFY: "true", ETCDCTL_ENDPOINTS: "a:1" }, { endpoints: ["https://a:1"] }],
    [{ SIGNALBOX_MACROS: "DISKS=4, RACK=r12" }, { macros: { DISKS: 4, RACK: "r12" } }],
    [
      { SIGNALBOX_KEY_BINDINGS: '{"drain": ["F5", "d"], "help": []}', SIGNALBOX_MOUSE: "no" },
      { keyBindings: { drain: ["F5", "d"], help: [] }, mouse: false },
    ],
    [
      { ETCDCTL_ENDPOINTS: "https://a:1", ETCDCTL_CACERT: "/c", ETCDCTL_CERT: "/d", ETCDCTL_KEY: "/e" },
      { cacert: "/c", cert: "/d", key: "/e" },
    ],
  ])("variables %j", (env, values) => {
    expect(resolveSettings({ env }).values).toMatchObject(values);
  });

  test("paths in a file are relative to it, others are left alone", () => {
    const files = { [SYSTEM]: { endpoints: "https://a:1", cacert: "tls/ca.pem", logFile: "/var/log/x" } };
    expect(resolveSettings({ env: { SIGNALBOX_PASSWORD_FILE: "" } }, files).values).toMatchObject({
      cacert: "/etc/signalbox/tls/ca.pem",
      logFile: "/var/log/x",
    });
    expect(resolveSettings({ flags: { endpoints: "https://a:1", cacert: "ca.pem" } }).values.cacert).toBe(
      "ca.pem",
    );
  });
});

describe("what is wrong is named with its place and value", () => {
  test.each([
    [{ ttl: 30 }, 'ttl: 30 is not a duration in quotes, such as "30s" or "1h30m"'],
    [{ ttl: "30" }, 'ttl: "30" has no unit; write 30s, 30m, 30h or 30d'],
    [{ ttl: "1s" }, 'ttl: "1s" is too short; at least 2s'],
    [{ ttl: "2500ms" }, 'ttl: "2500ms" is not a multiple of 1s'],
    [{ ttl: null }, "ttl: null is not a duration"],
    [{ endpoints: 4 }, "endpoints: 4 is not a list of addresses such as http://etcd1.example.com:2379"],
    [{ endpoints: [] }, "endpoints: no address is given"],
    [{ endpoints: ["ftp://a:1"] }, 'endpoints: "ftp://a:1" is not an address'],
    [{ endpoints: ["a"] }, 'endpoints: "a" is not an address with a port, such as a:2379'],
    [{ endpoints: ["http://a:99999"] }, "is not an address"],
    [{ prefix: "signalbox/" }, 'prefix: "signalbox/" cannot be used: it must begin with "/"'],
    [{ prefix: "/sïgnal/" }, "printable ASCII characters only"],
    [
      { clusterId: "my-cluster" },
      "is not a cluster's id, such as cdf818194e3a8c32; signalbox init prints it",
    ],
    [{ clusterId: 14841639068965 }, "a cluster's id in quotes"],
    [{ clusterId: "18446744073709551616" }, "it has more than 64 bits"],
    [{ prefix: "/a//b/" }, 'it contains "//"'],
    [{ transport: "smtp" }, 'transport: "smtp" is not one of auto, http, grpc'],
    [{ history: "maybe" }, 'history: "maybe" is not true or false'],
    [{ busyExitCode: 256 }, "busyExitCode: 256 is not a whole number from 0 to 255"],
    [{ busyExitCode: "1.5" }, 'busyExitCode: "1.5" is not a whole number'],
    [{ host: "a b" }, 'host: "a b" cannot be used'],
    [{ host: "x".repeat(10_000) }, "a host name has"],
    [{ group: "a\nb" }, 'group: "a\\nb" cannot be used: it contains a control character'],
    [{ label: ["x"] }, 'label: ["x"] is not a string'],
    [{ macros: ["A"] }, 'macros: ["A"] is not a set of macros'],
    [{ macros: { CPU: 4 } }, "macros: CPU is built in"],
    [{ macros: { A: { b: 1 } } }, "macros: A is neither a number nor a string"],
    [{ keyBindings: ["d"] }, 'keyBindings: ["d"] is not a set of keys such as {"drain": "d"'],
    [{ keyBindings: "drain=d" }, 'keyBindings: "drain=d" is not a set of keys'],
    [{ keyBindings: { drain: [5] } }, 'keyBindings: {"drain":[5]} is not a set of keys'],
    [{ theme: "pink" }, 'theme: "pink" is not one of auto, dark, light, contrast, ansi, mono'],
    [{ mouse: "maybe" }, 'mouse: "maybe" is not true or false'],
    [{ logFile: "" }, "it is not a path"],
    [{ tll: "30s" }, 'unknown setting "tll" (its value is "30s"); did you mean "ttl"?'],
    [{ zzz: 1 }, 'unknown setting "zzz" (its value is 1); see: signalbox config'],
    [JSON.parse('{"__proto__": 1}') as Record<string, unknown>, 'unknown setting "__proto__"'],
  ])("file %j", (settings, message) => {
    const error = catchFailure({}, { [SYSTEM]: settings });
    expect(error).toBeInstanceOf(ConfigError);
    expect(error.exitCode).toBe(78);
    expect(error.message).toContain(`${SYSTEM}: `);
    expect(error.message).toContain(message);
    expect(error.message.length).toBeLessThan(300);
  });

  test("a mistake in a file shows even where a flag overrules it", () => {
    expect(catchFailure({ flags: { ttl: "30s" } }, { [SYSTEM]: { ttl: 30 } }).message).toContain(
      "ttl: 30 is not",
    );
  });

  test("in a variable", () => {
    const error = catchFailure({ env: { SIGNALBOX_TERMINATION_TIMEOUT: "soon" } });
    expect(error).toBeInstanceOf(ConfigError);
    expect(error.message).toMatch(/^SIGNALBOX_TERMINATION_TIMEOUT: "soon" is not a duration/);
  });

  test("in a flag it is one of usage", () => {
    const error = catchFailure({ flags: { busyExitCode: "many" } });
    expect(error).toBeInstanceOf(UsageError);
    expect(error.message).toMatch(/^--busy-exit-code: "many" is not a whole number/);
  });
});

describe("the termination timeout must fit into the TTL", () => {
  test.each([
    ["30s", "24s", "23s"],
    ["5s", "4s", "3s"],
    ["2s", "1s", "600ms"],
    ["2m", "2m", "1m37s"],
  ])("ttl %s does not take %s, but %s", (ttl, tooLong, largest) => {
    const error = catchFailure({ flags: { ttl, terminationTimeout: tooLong } });
    expect(error.message).toContain(
      `terminationTimeout ${tooLong} (flag --termination-timeout) does not fit`,
    );
    expect(error.message).toContain(`set it to ${largest} or less,`);
    expect(resolveSettings({ flags: { ttl, terminationTimeout: largest } }).values.ttl).toBeGreaterThan(0);
  });

  test("the message's other way out is one, and the least", () => {
    const error = catchFailure({ flags: { ttl: "10s" } });
    expect(error.message).toContain(
      "terminationTimeout 10s (default) does not fit into ttl 10s (flag --ttl)",
    );
    expect(error.message).toContain("or set ttl to 14s or more");
    expect(catchFailure({ flags: { ttl: "13s" } })).toBeInstanceOf(ConfigError);
    expect(resolveSettings({ flags: { ttl: "14s" } }).values.ttl).toBe(14_000);
  });
});

describe("listings", () => {
  test("every setting has a row, with what holds and where from", () => {
    const rows = describeConfig(
      resolveSettings(
        { flags: { ttl: "1m30s" } },
        { [USER]: { macros: { A: 1, B: "x" }, keyBindings: { drain: "=" } } },
      ),
    );
    expect(rows.map(({ key }) => key)).toEqual(SETTING_KEYS);
    expect(rows).toContainEqual({ key: "ttl", value: "1m30s", source: "flag --ttl" });
    expect(rows).toContainEqual({ key: "macros", value: "A=1,B=x", source: `${USER}: macros` });
    expect(rows).toContainEqual({
      key: "keyBindings",
      value: '{"drain":"="}',
      source: `${USER}: keyBindings`,
    });
    expect(rows).toContainEqual({ key: "group", value: "-", source: "default" });
  });

  test("nothing in them harms a terminal", () => {
    const rows = describeConfig(resolveSettings({ flags: { logFile: "/a\x1b[31mb" } }));
    expect(rows).toContainEqual({ key: "logFile", value: "/ab", source: "flag --log-file" });
  });

  test("the table of settings names flags and variables; a default shown is read back as itself", () => {
    const table = describeSettings();
    expect(table.find(({ key }) => key === "busyExitCode")).toMatchObject({
      flag: "--busy-exit-code",
      short: "E",
      variables: ["SIGNALBOX_BUSY_EXIT_CODE"],
      standard: "75",
    });
    expect(table.filter(({ flag }) => flag === undefined).map(({ key }) => key)).toEqual([
      "password",
      "macros",
      "keyBindings",
      "userCommands",
    ]);
    const shown = table
      .filter(({ standard }) => standard !== "-")
      .map(({ key, standard }) => [key, standard]);
    expect(resolveSettings({ flags: Object.fromEntries(shown) }).values).toEqual(resolveSettings({}).values);
  });
});

test.each([
  [
    { cacert: "/ca.pem" },
    "cacert is set (flag --cacert), but http://127.0.0.1:2379 (default) does not use TLS",
  ],
  [
    { endpoints: "https://a:1,http://b:1", cert: "/c.pem", key: "/k.pem" },
    "cert is set (flag --cert), but http://b:1 (flag --endpoints) does not use TLS",
  ],
])("TLS files beside an address without TLS are refused: %j", (flags, message) => {
  expect(catchFailure({ flags })).toMatchObject({ exitCode: 78, message: expect.stringContaining(message) });
});
