/** Translation of cronlock and golock lines to `signalbox run`: all variables, their defaults, and invalid values. */
import { describe, expect, test } from "vitest";
import { createToolContext } from "../../../fixtures/cli/tool-context.ts";
import { splitShellWords } from "../../../fixtures/split-shell-words.ts";
import { runCommand } from "../../../src/cli/commands/run/run.ts";
import { parseCall } from "../../../src/cli/frame/command-line/parse-call.ts";
import {
  computeArgumentsHash,
  translateCronlock,
  translateGolock,
} from "../../../src/compat/cronlock/options.ts";
import { resolveConfig } from "../../../src/core/config/config.ts";

const WORDS = ["ls", "-al"];
const LOCK = `cronlock.${computeArgumentsHash("cronlock", WORDS)}`;
const STANDARD = {
  lock: LOCK,
  connectTimeout: "50s",
  grace: "40s",
  maxHold: "1d",
  busyExitCode: "200",
};

/** Parses an environment, such as `HOST=a`: names without the prefix of a program are those of cronlock. */
const parseEnv = (text: string) =>
  Object.fromEntries(
    splitShellWords(text).map((word) => {
      const [, name = "", value = ""] = /^(\w+)=(.*)$/s.exec(word) ?? [];
      return [name.startsWith("SIGNALBOX_") ? name : `CRONLOCK_${name}`, value];
    }),
  );

/** The line, as `signalbox run` reads it. */
function read(env: Record<string, string>, { asRun = translateCronlock, files = {} } = {}) {
  const found = asRun(WORDS, createToolContext(env, files));
  const { flags, settings, command } = parseCall(runCommand, [...found.options, "--", ...found.command]);
  expect(command).toEqual(WORDS);
  return {
    asked: { lock: [flags.lock].flat()[0], ...settings },
    env: found.env,
    notes: found.notes,
    settings,
  };
}

test("what signalbox run has besides", () => {
  const env = parseEnv(
    "RETRIES=3 RETRY_WAIT=60 JITTER=90 QUIET_SUCCESS=yes PING=https://hc-ping.com/u ON_FAILURE=mailto:ops ON_SUCCESS=true",
  );
  const { options, command } = translateCronlock(WORDS, createToolContext(env));
  expect(parseCall(runCommand, [...options, "--", ...command]).flags).toMatchObject({
    retries: 3,
    "retry-wait": 60_000,
    jitter: 90_000,
    "quiet-success": true,
    ping: "https://hc-ping.com/u",
    "on-failure": "mailto:ops",
    "on-success": "true",
  });
  expect(() => read(parseEnv("RETRIES=often"))).toThrow("--retries must be a whole number");
});

test("defaults", () => {
  expect(read({})).toMatchObject({ asked: STANDARD, env: undefined, notes: [] });
  expect(translateCronlock(WORDS, createToolContext()).options).toEqual([
    "--lock",
    LOCK,
    "--connect-timeout",
    "50s",
    "--grace",
    "40s",
    "--max-hold",
    "1d",
    "--busy-exit-code",
    "200",
  ]);
  const golock = {
    ...STANDARD,
    lock: `cronlock.${computeArgumentsHash("golock", WORDS)}`,
    connectTimeout: "30s",
  };
  expect(read({}, { asRun: translateGolock }).asked).toEqual(golock);
});

describe("each variable", () => {
  test.each<[env: string, asked: object]>([
    ["HOST=etcd1.example.com", { endpoints: ["http://etcd1.example.com:2379"] }],
    ["HOST=a PORT=2479", { endpoints: ["http://a:2479"] }],
    ["PORT=2479", { endpoints: ["http://localhost:2479"] }],
    ["HOST='' PORT=''", {}],
    [
      "HOST='a,b:1 c ,, [::1] [2001:db8::7]:2' PORT=9",
      { endpoints: ["http://a:9,http://b:1,http://c:9,http://[::1]:9,http://[2001:db8::7]:2"] },
    ],
    ["HOST=https://a", { endpoints: ["https://a:2379"] }],
    ["HOST=a TLS=yes", { endpoints: ["https://a:2379"] }],
    ["HOST=a TLS=TRUE", { endpoints: ["https://a:2379"] }],
    ["HOST=a TLS=1", { endpoints: ["https://a:2379"] }],
    ["HOST=a TLS=false", { endpoints: ["http://a:2379"] }],
    ["HOST=a TLS=no", { endpoints: ["http://a:2379"] }],
    ["TLS=yes", { endpoints: ["https://127.0.0.1:2379"] }],
    ["TLS=yes SIGNALBOX_ENDPOINTS=http://a:1,b:2", { endpoints: ["https://a:1,https://b:2"] }],
    ["HOST=a TLS=yes TLS_SKIP_VERIFY=true", { endpoints: ["https://a:2379"], insecureSkipTlsVerify: true }],
    ["TLS_SKIP_VERIFY=yes", {}],
    ["DB=0", {}],
    ["DB=3", { prefix: "/signalbox/db3/" }],
    ["DB=3 SIGNALBOX_PREFIX=/jobs", { prefix: "/jobs/db3/" }],
    ["GRACE=0", { grace: "0s" }],
    ["GRACE=90", { grace: "1m30s" }],
    ["RELEASE=172800", { maxHold: "2d" }],
    ["RELEASE=0", { maxHold: "1s" }],
    ["RELEASE=999999999", { maxHold: "3650d" }],
    ["RELEASE=5 GRACE=60", { maxHold: "5s", grace: "1m" }],
    ["TIMEOUT=0", {}],
    ["TIMEOUT=300", { timeout: "5m" }],
    ["REDIS_TIMEOUT=80", { connectTimeout: "1m20s" }],
    ["READ_TIMEOUT=80", { connectTimeout: "1m20s" }],
    ["REDIS_TIMEOUT=3 RECONNECT_ATTEMPTS=0", { connectTimeout: "3s" }],
    ["REDIS_TIMEOUT=0 RECONNECT_ATTEMPTS=1", { connectTimeout: "100ms" }],
    ["RECONNECT_ATTEMPTS=7 RECONNECT_BACKOFF=2", { connectTimeout: "42s" }],
    ["KEY=ls", { lock: "cronlock.ls" }],
    ["KEY=ls PREFIX=lock.app1.", { lock: "lock.app1.ls" }],
    ["KEY=ls PREFIX=''", { lock: "cronlock.ls" }],
    ["VERBOSE=yes", {}],
  ])("%s", (line, asked) => {
    const env = parseEnv(line);
    const found = read(env);
    expect(found.asked).toEqual({ ...STANDARD, ...asked });
    resolveConfig({ flags: found.settings, env: { ...env, ...found.env } }); // and they are settings that can hold
  });

  test("golock: an empty prefix is one, and the pause between attempts stays the same", () => {
    const env = parseEnv("KEY=ls PREFIX='' RECONNECT_ATTEMPTS=9");
    expect(read(env, { asRun: translateGolock }).asked).toMatchObject({ lock: "ls", connectTimeout: "45s" });
  });
});

test.each<[env: string, user: string | undefined, password: string]>([
  ["AUTH=ben:geheim", "ben", "geheim"],
  ["AUTH='ben:ge:he im'", "ben", "ge:he im"],
  ["AUTH=geheim", undefined, "geheim"],
  ["AUTH=:geheim", undefined, ":geheim"],
  ["AUTH='ben geheim'", "ben", "geheim"],
  ["AUTH=ge:heim USER=ben", "ben", "ge:heim"],
])("CRONLOCK_AUTH: no password stands among the options: %s", (env, user, password) => {
  const { asked, env: given, notes } = read(parseEnv(env));
  expect(asked).toEqual({ ...STANDARD, ...(user !== undefined && { user }) });
  expect(given).toEqual({ SIGNALBOX_PASSWORD: password });
  expect(notes.join()).toMatch("--password-file");
  expect(notes.join(), "a user is missing").toMatch(
    user === undefined ? /names no user/ : /^((?!names none).)*$/,
  );
  expect(notes.join()).not.toContain(password);
});

describe("its file", () => {
  const text = 'CRONLOCK_HOST="a"\nCRONLOCK_GRACE=50\n';
  const asked = { ...STANDARD, endpoints: ["http://a:2379"], grace: "50s" };

  test("wins over the environment; /etc/cronlock.conf where none is named", () => {
    expect(read({ CRONLOCK_GRACE: "1" }, { files: { "/etc/cronlock.conf": text } }).asked).toEqual(asked);
    const env = { CRONLOCK_CONFIG: "/x.conf", CRONLOCK_GRACE: "1" };
    expect(read(env, { files: { "/x.conf": text, "/etc/cronlock.conf": "A=`x`" } }).asked).toEqual(asked);
  });

  test("golock reads only what is named", () => {
    const files = { "/etc/cronlock.conf": text };
    expect(read({}, { asRun: translateGolock, files }).asked).toMatchObject({ grace: "40s" });
    const env = { CRONLOCK_CONFIG: "/etc/cronlock.conf" };
    expect(read(env, { asRun: translateGolock, files }).asked).toMatchObject({ grace: "50s" });
  });
});

describe("what changes is noted", () => {
  test.each([
    ["NTPDATE=yes", /CRONLOCK_NTPDATE is ignored/],
    ["TIMEOUT=5", /124 instead of 202/],
    ["RELEASE=3600", /^a command that still runs after CRONLOCK_RELEASE is terminated/],
    ["DB=2", /--prefix/],
    ["TLS=yes", /--endpoints/],
  ])("%s", (env, note) => {
    expect(read(parseEnv(env)).notes).toEqual([expect.stringMatching(note)]);
  });

  test.each(["NTPDATE=no", "USE_SENTINEL=no", "RESET=no"])("%s: nothing", (env) => {
    expect(read(parseEnv(env)).notes).toEqual([]);
  });
});

test.each([
  ["HOST=a", true],
  ["HOST=a TLS=yes", false],
  ["HOST=https://a", false],
  ["", false],
])("a password for %j: without TLS the run will refuse to send it: %s", (env, isNoted) => {
  const notes = read(parseEnv(`${env} AUTH=ben:geheim`)).notes.join();
  expect(notes.includes("without TLS")).toBe(isNoted);
});

test("what a file exports is missed", () => {
  const files = { "/etc/cronlock.conf": "export A=1 A=2\nB=1 C=2\nexport CRONLOCK_GRACE=1" };
  expect(read({ B: "0" }, { files }).notes).toEqual([
    "the command no longer gets what /etc/cronlock.conf exports: A, B",
  ]);
});

describe("refused", () => {
  test.each<[env: string, fault: string | RegExp]>([
    ["GRACE=-1", /^environment CRONLOCK_GRACE: "-1" is not a whole number from 0/],
    ["GRACE=1.5", /CRONLOCK_GRACE: "1.5" is not/],
    ["GRACE=999999999", /CRONLOCK_GRACE: "999999999" is not .* to 315360000/],
    ["RELEASE=1d", 'CRONLOCK_RELEASE: "1d" is not'],
    ["TIMEOUT=-5", 'CRONLOCK_TIMEOUT: "-5" is not'],
    ["DB=-1", 'CRONLOCK_DB: "-1" is not'],
    ["DB=jobs", 'CRONLOCK_DB: "jobs" is not'],
    ["KEY='caf\ufffd'", /^environment CRONLOCK_KEY: it is not UTF-8$/],
    ["PORT=0", 'CRONLOCK_PORT: "0" is not a whole number from 1 to 65535'],
    ["PORT=65536", 'CRONLOCK_PORT: "65536" is not'],
    ["PORT=redis", 'CRONLOCK_PORT: "redis" is not'],
    ["REDIS_TIMEOUT=x", 'CRONLOCK_REDIS_TIMEOUT: "x" is not'],
    ["RECONNECT_ATTEMPTS=x", 'CRONLOCK_RECONNECT_ATTEMPTS: "x" is not'],
    ["RECONNECT_BACKOFF=-1", 'CRONLOCK_RECONNECT_BACKOFF: "-1" is not'],
    ["TLS=perhaps", /CRONLOCK_TLS: "perhaps" is neither yes .* nor no/],
    ["TLS_SKIP_VERIFY=x", 'CRONLOCK_TLS_SKIP_VERIFY: "x" is neither'],
    ["HOST=::1", /CRONLOCK_HOST: "::1" is not a host, such as .*\[2001:db8::7\]/],
    ["HOST='\x1b[31m/x'", /CRONLOCK_HOST: "\\u001b\[31m\/x" is not a host/],
    ["HOST=' , '", "CRONLOCK_HOST: no host is given"],
    ["HOST=http://ben:geheim@a", "use CRONLOCK_AUTH"],
    [
      "USE_SENTINEL=yes",
      /CRONLOCK_USE_SENTINEL: Sentinel belongs to Redis.*several of them in CRONLOCK_HOST/,
    ],
    ["LOCAL_VIP=192.0.2.7", /CRONLOCK_LOCAL_VIP: .*SIGNALBOX_GROUP/],
    ["RESET=yes", /signalbox reset lock cronlock\.[0-9a-f]{32} --yes/],
    ["CONFIG=/no/such", "/no/such could not be read; CRONLOCK_CONFIG names it"],
  ])("%s", (env, fault) => {
    expect(() => read(parseEnv(env))).toThrow(fault);
    expect(() => read(parseEnv(env))).not.toThrow("geheim");
  });

  test("a bad value in its file is named by the file", () => {
    const files = { "/etc/cronlock.conf": "CRONLOCK_PORT=x" };
    expect(() => read({}, { files })).toThrow(/^\/etc\/cronlock\.conf: CRONLOCK_PORT: "x" is not/);
  });

  test("a line without a command", () => {
    expect(() => translateCronlock([], createToolContext())).toThrow("usage: cronlock COMMAND");
    expect(() => translateGolock([], createToolContext())).toThrow("usage: golock COMMAND");
  });
});
