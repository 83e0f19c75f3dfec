/** Its configuration by environment: keys that are used, reported or refused. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import {
  findHandlerFile,
  type PerfectschedLine,
  parsePerfectschedLine,
  readPerfectschedConfig,
} from "../../../src/compat/perfectsched/options.ts";

const folder = createTestFolder(afterAll);
let count = 0;

function file(text: string, name = `file${count++}.yml`) {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

/** No configuration of this machine counts. */
const ENV = { XDG_CONFIG_HOME: join(folder, "none"), HOME: folder };
const setup = (text: string, environment = "development", env: Record<string, string> = {}) =>
  readPerfectschedConfig(file(text), environment, { ...ENV, ...env });

function faultOf(text: string, environment?: string, env?: Record<string, string>) {
  try {
    setup(text, environment, env);
  } catch (error) {
    return (error as Error).message.replaceAll(`${folder}/`, "").replace(/^file\d+/, "file");
  }
  throw new Error(`taken: ${text}`);
}

describe("the configuration", () => {
  it("has parts by environment, and YAML's ways to share them", () => {
    const text = `
defaults: &defaults
  type: rdb_compat
  url: mysql://ann:secret@db/jobs
  table: jobs
  timezone: Asia/Tokyo
development:
  <<: *defaults
  endpoints: [http://a:2379, http://b:2379]
  prefix: /jobs/
  log: log/worker.log
  retry_wait: 60
production: { <<: *defaults, endpoints: "http://c:2379", cacert: tls/ca.pem }
`;
    expect(setup(text)).toMatchObject({
      settings: { endpoints: ["http://a:2379", "http://b:2379"], prefix: "/jobs/" },
      timezone: "Asia/Tokyo",
      log: "log/worker.log",
      handlers: undefined,
      retryWait: 60_000,
      notes: [],
    });
    expect(setup(text, "production")).toMatchObject({
      settings: { endpoints: "http://c:2379", cacert: join(folder, "tls/ca.pem") },
    });
  });

  it("needs no endpoints where type is etcd, or our own configuration has them", () => {
    expect(setup("development: { type: etcd }")).toMatchObject({ settings: {}, notes: [] });
    const ours = { SIGNALBOX_ENDPOINTS: "http://x:2379" };
    expect(setup("development: {}", undefined, ours).notes).toEqual([]);
    const { notes } = setup(
      "development: { type: rdb_compat, url: 'mysql://u:secret@h/d' }",
      undefined,
      ours,
    );
    expect(notes).toEqual([
      expect.stringMatching(
        /its url names a database, which is not used: schedules are in etcd at http:\/\/x:2379 \(environment SIGNALBOX_ENDPOINTS\)$/,
      ),
    ]);
  });

  it("names what was probably meant, and passes over the rest as the original does", () => {
    const { notes } = setup("development: { type: etcd, endpoint: x, our_own: 5, poll_interval: 1 }");
    expect(notes).toEqual([
      expect.stringMatching(/: "endpoint" is an unknown key; did you mean endpoints\?$/),
    ]);
  });

  it("says where handlers are", () => {
    expect(setup("development: { type: etcd, handlers: [] }").handlers).toBe("inline");
    expect(setup("development: { type: etcd, handlers: app/h.yml }").handlers).toEqual({
      file: join(folder, "app/h.yml"),
    });
  });

  it.each([
    [
      "only a database",
      "development:\n  type: rdb_compat\n  url: mysql://ann:secret@db/jobs",
      /^file\.yml: line 3, column 3: development\.url: it names a database, .* add endpoints: \["http:\/\/HOST:2379"\], or put type: etcd/,
    ],
    ["only a type", "development: { type: rdb_compat, table: t }", "development.type: it names a database"],
    ["nothing", "development: {}", "it does not have the addresses of etcd; add endpoints"],
    [
      "no such environment",
      "production: {}\nstaging: {}",
      /^file\.yml has no configuration for the environment "development" \(-e, or RAILS_ENV\); there are: production, staging$/,
    ],
    ["no environments", "type: etcd", /"development".*; it has none$/],
    ["an empty file", "", /"development".*; it has none$/],
    ["a list", "- a", /it has none$/],
    [
      "a text for an environment",
      "development: etcd",
      'line 1, column 1: development: "etcd" is not a list of keys and values',
    ],
    ["no YAML", "development: [", /^file\.yml: line 1, column 15: /],
    ["an endpoint", "development: { endpoints: ['http://h:99999'] }", /development\.endpoints: .*99999/],
    ["a prefix", "development: { type: etcd, prefix: 5 }", "development.prefix: "],
    ["a time zone", "development: { type: etcd, timezone: 5 }", 'development.timezone: "5" is not a string'],
    ["a log", "development: { type: etcd, log: [] }", 'development.log: "[]" is not a string'],
    [
      "retry_wait",
      "development: { type: etcd, retry_wait: soon }",
      'development.retry_wait: "soon" is not a number of seconds',
    ],
  ])("refuses %s", (_, text, message) => {
    const fault = faultOf(text);
    expect(fault).toMatch(message);
    expect(fault).not.toMatch("secret");
  });

  it("must be there and be read", () => {
    expect(() => readPerfectschedConfig(join(folder, "none.yml"), "development", ENV)).toThrow(
      /none\.yml does not exist; name the configuration with -c$/,
    );
    expect(() => readPerfectschedConfig(folder, "development", ENV)).toThrow(
      "cannot be read: illegal operation on a directory (EISDIR)",
    );
  });
});

describe("run CLASS", () => {
  const HANDLERS = "handlers: [{ type: a, command: b }]";
  const plain = file(HANDLERS, "handlers.yml");
  const keyed = file(`development: { ${HANDLERS} }\nNight: { ${HANDLERS} }`, "keyed.yaml");
  mkdirSync(join(folder, "sub"));
  const inSub = file(HANDLERS, "sub/deep.json");
  const run = (words: string[], text = "development: { type: etcd }") => {
    const line = parsePerfectschedLine(
      ["run", ...words, "-c", file(text, "config.yml")],
      undefined,
    ) as PerfectschedLine;
    return findHandlerFile(
      line,
      words.at(-1) ?? "",
      readPerfectschedConfig(line.config, line.environment, ENV),
    );
  };

  it.each([
    ["a file", [plain], "", { file: plain, environment: undefined, notes: [] }],
    ["a file in a folder of -I", ["-I", folder, "handlers.yml"], "", { file: plain, notes: [] }],
    ["the second folder", ["-I/nowhere", "-I", join(folder, "sub"), "deep.json"], "", { file: inSub }],
    ["a file keyed by environment", [keyed], "", { file: keyed, environment: "development", notes: [] }],
    [
      "an environment of a file",
      ["-r", keyed, "Night"],
      "",
      { file: keyed, environment: "Night", notes: [] },
    ],
    [
      "a class, and a file of -r",
      ["-rboot.rb", "-r", plain, "App::Dispatch"],
      "",
      {
        file: plain,
        notes: [
          expect.stringMatching(
            /^App::Dispatch is treated as a class of Ruby \(as are boot\.rb\), .*handlers\.yml are used instead$/,
          ),
        ],
      },
    ],
    [
      "a class, and the configuration's file",
      ["Dispatch"],
      "handlers: handlers.yml",
      { file: plain, notes: [expect.stringMatching(/^Dispatch is treated/)] },
    ],
    [
      "a class, and handlers in the configuration",
      ["Dispatch"],
      HANDLERS,
      { file: join(folder, "config.yml"), environment: "development" },
    ],
  ])("%s", (_, words, more, expected) => {
    expect(run(words, `development:\n  type: etcd\n  ${more}`)).toMatchObject(expected);
  });

  it.each([
    [
      "a class alone",
      ["-rboot.rb", "Dispatch"],
      "",
      /^"Dispatch" is not a file of handlers, and classes of Ruby cannot run here\. Write .*\n {2}handlers:\n.*\n.*standard input.* 75 /,
    ],
    [
      "a file that is not there",
      ["none.yml"],
      "",
      /^none\.yml does not exist here; name other folders with -I$/,
    ],
    [
      "one of -r",
      ["-I/nowhere", "-rnone.yml", "X"],
      "",
      /^none\.yml does not exist here or in a folder of -I$/,
    ],
    [
      "one of the configuration",
      ["X"],
      "handlers: none.yml",
      /none\.yml does not exist; .*config\.yml names it under handlers/,
    ],
  ])("refuses %s", (_, words, more, message) => {
    expect(() => run(words, `development:\n  type: etcd\n  ${more}`)).toThrow(message);
  });
});
