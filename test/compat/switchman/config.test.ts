import { describe, expect, test } from "vitest";
import { parseSwitchmanConfig } from "../../../src/compat/switchman/options.ts";
import { readSwitchmanConfig } from "../../../src/compat/switchman/switchman.impl.ts";
import { ConfigError } from "../../../src/core/base/errors.ts";

const FILE = "/etc/switchman.conf";
const LEAST = { prefix: "/myproject/switchman", zkhosts: "zk1:2181,zk2:2181" };
const read = (more: object) => parseSwitchmanConfig(FILE, JSON.stringify({ ...LEAST, ...more }));
const USUAL = {
  path: FILE,
  etcdhosts: undefined,
  etcdprefix: undefined,
  logfile: undefined,
  loglevel: "info",
  resourcesWaitTimeout: 0,
  terminationTimeout: undefined,
};

describe("switchman's configuration", () => {
  test.each<[more: object, meaning: object]>([
    [{}, {}],
    [{ etcdhosts: "etcd1:2379" }, { etcdhosts: "etcd1:2379" }],
    [{ etcdhosts: ["http://e1:2379", "e2:2379"] }, { etcdhosts: ["http://e1:2379", "e2:2379"] }],
    [{ etcdhosts: "e:2379", zkhosts: undefined }, { etcdhosts: "e:2379" }],
    [{ etcdhosts: "" }, {}],
    [{ etcdprefix: "/a/" }, { etcdprefix: "/a/" }],
    [{ logfile: "/var/log/s.log" }, { logfile: "/var/log/s.log" }],
    [{ logfile: "" }, {}],
    [{ logfile: "0", etcdprefix: 0, etcdhosts: "0" }, {}], // Perl takes 0 for nothing
    [{ loglevel: "debug" }, { loglevel: "debug" }],
    [{ loglevel: "info" }, {}],
    [{ loglevel: "warning" }, { loglevel: "warning" }],
    [{ loglevel: "warn" }, { loglevel: "warning" }],
    [{ loglevel: "critical" }, { loglevel: "critical" }],
    [{ loglevel: "" }, {}],
    [{ termination_timeout: 100 }, { terminationTimeout: 100 }],
    [{ termination_timeout: "7" }, { terminationTimeout: 7 }],
    [{ termination_timeout: 0 }, { terminationTimeout: 0 }],
    [{ termination_timeout: null }, {}],
    [{ resources_wait_timeout: 3600 }, { resourcesWaitTimeout: 3600 }],
    [{ resources_wait_timeout: "0" }, {}],
    [{ data_read_len: 16383, other: 1 }, {}], // about ZooKeeper, and unknown: passed over
  ])("%j", (more, meaning) => {
    expect(read(more)).toEqual({ ...USUAL, ...meaning });
  });

  test.each<[more: object, fault: RegExp]>([
    [{ prefix: undefined }, /prefix is not defined in \/etc\/switchman\.conf/],
    [{ prefix: "myproject" }, /bad prefix in \/etc\/switchman\.conf: "myproject" is not a path/],
    [{ prefix: "/a/" }, /bad prefix/],
    [{ prefix: 5 }, /bad prefix .*: 5 is not/],
    [{ zkhosts: undefined }, /neither zkhosts nor etcdhosts is defined in .*add "etcdhosts"/],
    [{ zkhosts: "zk1:2181/chroot" }, /bad zkhosts .*without a path/],
    [{ etcdhosts: 2379 }, /bad etcdhosts .*: it is neither a string such as/],
    [{ etcdhosts: ["http://u:secret@a:1", 2] }, /^bad etcdhosts in ((?!secret).)*$/],
    [{ logfile: ["a"] }, /bad logfile/],
    [{ loglevel: "loud" }, /bad loglevel .*: "loud" is not one of debug, info/],
    [{ termination_timeout: -1 }, /bad termination_timeout .*: -1 is not a whole number of seconds/],
    [{ termination_timeout: "10s" }, /bad termination_timeout .*: "10s"/],
    [{ termination_timeout: 1.5 }, /bad termination_timeout/],
    [{ resources_wait_timeout: "soon" }, /bad resources_wait_timeout/],
  ])("%j is refused", (more, fault) => {
    expect(() => read(more)).toThrow(ConfigError);
    expect(() => read(more)).toThrow(fault);
  });

  test.each<[text: string, fault: RegExp]>([
    ["", /is not JSON: line 1/],
    ['{"prefix": \n', /is not JSON: line 2/],
    ["[]", /must contain a JSON object/],
    ["null", /must contain a JSON object/],
  ])("%j is refused", (text, fault) => {
    expect(() => parseSwitchmanConfig(FILE, text)).toThrow(fault);
  });

  test("a text with a byte order mark and blank lines will do", () => {
    expect(parseSwitchmanConfig(FILE, `\ufeff\n  ${JSON.stringify(LEAST)}  \n\n`)).toEqual(USUAL);
  });
});

describe("the file", () => {
  const file = { text: JSON.stringify(LEAST), mode: 0o644, uid: 0 };

  test("that is named is read, else the usual one", () => {
    const paths: string[] = [];
    const reading = (path: string) => {
      paths.push(path);
      return file;
    };
    readSwitchmanConfig(undefined, reading);
    readSwitchmanConfig("my.conf", reading);
    expect(paths).toEqual([FILE, "my.conf"]);
  });

  test.each<[named: string | undefined, fault: RegExp]>([
    [undefined, /\/etc\/switchman\.conf is absent and --config is missing/],
    ["/none\u001b[31m", /Failed to open <\/none>: it does not exist/],
  ])("%j that is not there is refused", (named, fault) => {
    expect(() => readSwitchmanConfig(named, () => undefined)).toThrow(fault);
  });

  test("that cannot be read is refused", () => {
    const refuse = () => {
      throw Object.assign(new Error("no"), { code: "EACCES" });
    };
    expect(() => readSwitchmanConfig("/x", refuse)).toThrow("Failed to open </x>: EACCES");
  });
});
