/** The memory of the cluster that a host uses: a file per set of endpoints and prefix, which the first process writes. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished, test } from "vitest";
import { createTestFolder } from "../../../../fixtures/test-folder.ts";
import { ConfigError } from "../../../../src/core/base/errors.ts";
import { ClusterMemory } from "../../../../src/core/etcd/cluster/cluster-memory.ts";
import { ClusterPin } from "../../../../src/core/etcd/cluster/pinned-member.ts";
import { type Member, MemberError } from "../../../../src/core/etcd/member.ts";

const IS_ROOT = process.geteuid?.() === 0;

let home: string;
beforeEach(() => {
  home = createTestFolder();
});

const ENDPOINTS = ["http://a:2379", "http://b:2379"];
const PREFIX = "/signalbox/";

function createMemory(endpoints = ENDPOINTS, prefix = PREFIX, folder = home) {
  return new ClusterMemory({ prefix, endpoints }, { XDG_STATE_HOME: folder });
}

/** Remembers a cluster. @returns the file */
function remember(id: bigint) {
  const found = createMemory().remember(id);
  if ("fault" in found) throw new Error(found.fault);
  return found.path;
}

const listFiles = () => readdirSync(join(home, "signalbox"));

test.each([
  ["the order of the endpoints", [...ENDPOINTS, ...ENDPOINTS].slice(1), PREFIX, 0xabcn],
  ["other endpoints", ["http://a:2379"], PREFIX, undefined],
  ["another prefix", ENDPOINTS, "/other/", undefined],
])("what is remembered: %s", (_, endpoints, prefix, id) => {
  remember(0xabcn);
  expect(createMemory(endpoints, prefix).recall()?.id).toBe(id);
});

describe("a process that was killed", () => {
  it("before it gave the file its name leaves a draft, which is replaced", () => {
    const path = remember(1n);
    unlinkSync(path);
    writeFileSync(`${path}.${process.pid}`, '{"clust');
    expect(createMemory().recall()).toBeUndefined();
    remember(2n);
    expect(createMemory().recall()?.id).toBe(2n);
    expect(listFiles()).toHaveLength(1);
  });

  it("after that leaves a second name, and a later process with its id does not write to the file", () => {
    const path = remember(1n);
    const draft = `${path}.${process.pid}`;
    linkSync(path, draft);
    unlinkSync(path);
    linkSync(draft, `${path}.kept`);
    remember(2n);
    expect(readFileSync(`${path}.kept`, "utf8")).toContain('"clusterId":"1"');
    expect(createMemory().recall()?.id).toBe(2n);
  });
});

describe("a damaged file", () => {
  test.each([
    ["an empty one", ""],
    ["a pipe", undefined],
    ["no JSON", "{"],
    ["no id", "{}"],
    ["an id of the wrong form", JSON.stringify({ clusterId: "x", prefix: PREFIX, endpoints: ENDPOINTS })],
    ["other endpoints", '{"clusterId":"1","prefix":"/signalbox/","endpoints":["http://c:2379"]}'],
  ])("is refused, with its path and the remedy: %s", (_, text) => {
    const path = remember(1n);
    unlinkSync(path);
    if (text === undefined) execFileSync("mkfifo", [path]);
    else writeFileSync(path, text);
    const recall = () => createMemory().recall();
    for (const part of [ConfigError, path, "signalbox init --forget-cluster"]) expect(recall).toThrow(part);
    expect(() => createMemory().remember(2n)).toThrow(ConfigError);
    expect(createMemory().forget(), "and can be forgotten").toEqual([path]);
    remember(2n);
  });

  it("is not called damaged if this process has too many open files", () => {
    remember(1n);
    const script = `
      const { ClusterMemory } = await import("${join(import.meta.dirname, "../../../../src/core/etcd/cluster/cluster-memory.ts")}");
      const { openSync } = await import("node:fs");
      const memory = new ClusterMemory(${JSON.stringify({ prefix: PREFIX, endpoints: ENDPOINTS })}, { XDG_STATE_HOME: "${home}" });
      try { for (;;) openSync("/dev/null"); } catch {}
      try { memory.recall(); } catch ({ message }) { process.stdout.write(message); }
    `;
    const args = [
      "-c",
      'ulimit -n 64; exec "$@"',
      "sh",
      process.execPath,
      "--input-type=module",
      "-e",
      script,
    ];
    expect(execFileSync("sh", args, { encoding: "utf8" })).toMatch(
      /cannot be read: too many open files \(EMFILE\); raise the limit of open files: ulimit -n$/,
    );
  });

  it("is refused too if it is a folder", () => {
    const path = remember(1n);
    unlinkSync(path);
    mkdirSync(path);
    expect(() => createMemory().recall()).toThrow(/cannot be read: .*EISDIR/);
  });
});

describe("a folder that cannot be used: nothing is remembered, and nothing fails", () => {
  const findFault = () => {
    const found = createMemory().remember(1n);
    return "fault" in found ? found.fault : undefined;
  };

  it("not a folder", () => {
    writeFileSync(join(home, "signalbox"), "");
    expect(createMemory().recall()).toBeUndefined();
    expect(findFault()).toMatch(/cannot be written|belongs/);
  });

  it("no home", () => {
    const memory = createMemory([], "/", "relative");
    if (!IS_ROOT) expect(memory.remember(1n)).toEqual({ fault: "this user has no home" });
  });

  it.runIf(IS_ROOT)("one of another user, whatever is in it", () => {
    const path = remember(7n);
    chownSync(join(home, "signalbox"), 12_345, 0);
    expect(createMemory().recall(), path).toBeUndefined();
    expect(findFault()).toContain("belongs to another user");
    expect(listFiles()).toHaveLength(1);
  });

  it.runIf(IS_ROOT)("one below a folder of another user, by a link too", () => {
    remember(7n);
    chownSync(home, 12_345, 0);
    expect(createMemory().recall()).toBeUndefined();
    const link = `${home}-link`;
    symlinkSync(home, link);
    expect(createMemory(ENDPOINTS, PREFIX, link).recall()).toBeUndefined();
    unlinkSync(link);
    chownSync(home, 0, 0);
    expect(createMemory().recall()?.id).toBe(7n);
  });

  it("one in which everybody can write", () => {
    remember(7n);
    chmodSync(join(home, "signalbox"), 0o777);
    expect(createMemory().recall()).toBeUndefined();
    expect(findFault()).toContain("others can write there");
  });
});

it("the file can be read by other users, and written by nobody else", () => {
  const before = process.umask(0);
  onTestFinished(() => void process.umask(before));
  const modes = [remember(1n), join(home, "signalbox")].map((path) => statSync(path).mode & 0o777);
  expect(modes).toEqual([0o644, 0o755]);
});

describe("the pin of a process", () => {
  const createMember = (endpoint: string) => ({ endpoint }) as Member;
  const [one, other] = [createMember("http://a:2379"), createMember("http://b:2379")];

  it("takes the cluster that another process has remembered since the start", async () => {
    const pin = new ClusterPin(undefined, createMemory());
    remember(1n);
    const check = () => pin.check(one, { cluster_id: "2" });
    check();
    await pin.remember([one]);
    expect(check).toThrow(MemberError);
    expect(check).toThrow(
      /^http:\/\/a:2379 belongs to cluster 2, but this host remembers the cluster 1 for these endpoints \(.*cluster-[0-9a-f]{8}\.json\); .*signalbox init --forget-cluster$/,
    );
    expect(pin.isTrusted(one)).toBe(false);
    pin.check(other, { cluster_id: "1" });
    expect(pin.isTrusted(other)).toBe(true);
    pin.checkUnambiguous();
  });

  it("remembers no cluster if a member belongs to another one, and ignores members that do not answer", async () => {
    const createAnswering = (endpoint: string, id?: string) => {
      const call = async () =>
        id === undefined ? Promise.reject(new Error("down")) : { header: { cluster_id: id } };
      return { endpoint, call } as unknown as Member;
    };
    const [first, same, foreign] = ["1", "1", "2"].map((id, at) => createAnswering(`http://${at}:2379`, id));
    const down = createAnswering("http://down:2379");
    const rememberFirst = async (...more: (Member | undefined)[]) => {
      const pin = new ClusterPin(undefined, createMemory());
      pin.check(one, { cluster_id: "1" });
      await pin.remember([first, ...more].filter((member) => member !== undefined));
    };
    await expect(rememberFirst(same, foreign, down)).rejects.toThrow(
      "http://2:2379 belongs to cluster 2, but another endpoint belongs to cluster 1; name the members of one cluster only",
    );
    expect(createMemory().recall()).toBeUndefined();
    await rememberFirst(same, down);
    expect(createMemory().recall()?.id).toBe(1n);
  });

  it("sends no write to a member that has not answered", () => {
    const pin = new ClusterPin(undefined, createMemory());
    expect(pin.isTrusted(one)).toBe(false);
    pin.check(one, { cluster_id: "1" });
    expect([pin.isTrusted(one), pin.isTrusted(other)]).toEqual([true, false]);
  });

  it("ignores what is remembered if a cluster is configured", () => {
    remember(1n);
    const pin = new ClusterPin(2n, createMemory());
    pin.check(one, { cluster_id: "2" });
    expect(() => pin.check(other, { cluster_id: "1" })).toThrow("but clusterId is 2");
  });

  it("works on where nothing can be remembered", () => {
    writeFileSync(join(home, "signalbox"), "");
    const pin = new ClusterPin(undefined, createMemory());
    pin.check(one, { cluster_id: "1" });
    expect(() => pin.check(other, { cluster_id: "2" })).toThrow("another endpoint belongs to cluster 1");
  });
});
