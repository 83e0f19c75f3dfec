import { describe, expect, test } from "vitest";
import { createToolContext } from "../../../fixtures/cli/tool-context.ts";
import { runCommand } from "../../../src/cli/commands/run/run.ts";
import { parseCall } from "../../../src/cli/frame/command-line/parse-call.ts";
import { translateSwitchman } from "../../../src/compat/switchman/options.ts";
import { resolveConfig } from "../../../src/core/config/config.ts";

const FILE = "/etc/switchman.conf";
const config = (more: object = {}) => JSON.stringify({ prefix: "/p", zkhosts: "zk:2181", ...more });
const translated = (line: string, more?: object) =>
  translateSwitchman(line.split(" "), createToolContext({}, { [FILE]: config(more) }));

const FROM_OURS = "signalbox's own configuration must say where etcd is";
const ETCD = { etcdhosts: "e1:2379,e2:2379" };
const AT = "--endpoints e1:2379,e2:2379";

describe("a line of switchman as one of signalbox run", () => {
  test.each([
    ["-- x a", {}, "", [/must say where etcd is$/]],
    ["-- x a", ETCD, AT, []],
    ["-- x a", { etcdhosts: ["e1:2379", "e2:2379"] }, AT, []],
    ["--endpoints e3:2379 -- x a", ETCD, "--endpoints e3:2379", []],
    ["--lockname l -- x a", ETCD, `--lock l ${AT}`, []],
    ["-g web -- x a", ETCD, `${AT} -g web`, []],
    ["--lease FQDN_cpu=1:CPU -- x a", ETCD, `--lease FQDN_cpu=1:CPU ${AT}`, []],
    [
      "--no-lock --lease db=1:2 -- x a",
      ETCD,
      `--no-lock --lease db=1:2 ${AT} --label x`,
      [/^each run queues for the lease/],
    ],
    [
      "--no-lock -g web -- x a",
      ETCD,
      `--no-lock --lease no-lock:x=1:1000000 ${AT} -g web --label x`,
      [/^without lock and lease, a run holds one unit/],
    ],
    ["-- x a", { ...ETCD, etcdprefix: "/p/" }, `${AT} --prefix /p/`, []],
    ["-- x a", { ...ETCD, termination_timeout: 15 }, `${AT} --termination-timeout 15s`, []],
    ["-- x a", { ...ETCD, termination_timeout: 60 }, `${AT} --termination-timeout 1m --ttl 1m14s`, []],
    ["-- x a", { ...ETCD, resources_wait_timeout: 90 }, `${AT} --lease-timeout 1m30s`, []],
    ["-- x a", { ...ETCD, resources_wait_timeout: 0 }, AT, []],
    [
      "-- x a",
      { ...ETCD, logfile: "/l", loglevel: "warning" },
      `${AT} --log-file /l --log-level warn`,
      [/^warnings go only to the log/],
    ],
    [`-c ${FILE} -- x a`, ETCD, AT, [/^the prefix in .* no longer separates locks/]],
    [`-c ${FILE} -- x a`, { ...ETCD, etcdprefix: "/p/" }, `${AT} --prefix /p/`, []],
  ])("%s with %j", (line, more, options, notes) => {
    const ours = translated(line, more);
    expect(ours).toEqual({
      options: `-E 0 ${options}`.trim().split(" "),
      command: ["x", "a"],
      notes: notes.map((note) => expect.stringMatching(note)),
    });
    // And ours takes it.
    const call = parseCall(runCommand, [...ours.options, "--", ...ours.command]);
    expect(() => resolveConfig({ flags: call.settings, readFile: () => undefined })).not.toThrow();
  });

  test("without the file at hand: what it says is left to our configuration, and told", () => {
    expect(translateSwitchman(["-c", "/x", "--", "x"], createToolContext())).toEqual({
      options: ["-E", "0"],
      command: ["x"],
      notes: [expect.stringMatching(/^"\/x" was not read.*run this on a host that has the file$/), FROM_OURS],
    });
  });

  test.each([
    ["-h", {}, "the line only prints the help"],
    ["-g", {}, "needs a value"],
    ["x", { prefix: "" }, "prefix is not defined"],
  ])("%s with %j is refused", (line, more, fault) => {
    expect(() => translated(line, more)).toThrow(fault);
  });
});
