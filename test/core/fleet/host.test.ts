import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  countSharedCpus,
  type Machine,
  readCgroupLimits,
  readHostFacts,
} from "../../../src/core/fleet/host.ts";

type Files = Record<string, string>;
const GIB = 1024 ** 3;

function machine(files: Files = {}, more: Partial<Machine> = {}): Machine & { read: string[] } {
  const read: string[] = [];
  return {
    read,
    hostname: () => "web1",
    readFile(path) {
      read.push(path);
      return Object.hasOwn(files, path) ? files[path] : undefined;
    },
    getParallelism: () => 8,
    getTotalMemory: () => 16 * GIB,
    ...more,
  };
}

const mount = (point: string, root: string, rest: string) =>
  `31 23 0:28 ${root} ${point} rw,nosuid shared:9 - ${rest}\n`;
const V2 = mount("/sys/fs/cgroup", "/", "cgroup2 cgroup2 rw,nsdelegate");
const v1 = (controllers: string, root = "/") =>
  mount(`/sys/fs/cgroup/${controllers}`, root, `cgroup cgroup rw,${controllers}`);
const inGroup = (path: string, mounts = V2): Files => ({
  "/proc/self/cgroup": `0::${path}\n`,
  "/proc/self/mountinfo": `22 1 8:1 / / rw - ext4 /dev/sda1 rw\n${mounts}`,
});
const limits = (files: Files) => readCgroupLimits((path) => files[path]);

describe("version 2", () => {
  test("a parent's tighter limit holds for the child", () => {
    const files = {
      ...inGroup("/a/b/c"),
      "/sys/fs/cgroup/a/b/c/memory.max": "max\n",
      "/sys/fs/cgroup/a/b/memory.max": `${4 * GIB}\n`,
      "/sys/fs/cgroup/a/memory.max": `${3 * GIB}\n`,
      "/sys/fs/cgroup/a/b/c/cpu.max": "400000 100000\n",
      "/sys/fs/cgroup/a/cpu.max": "max 100000\n",
      "/sys/fs/cgroup/a/b/cpuset.cpus.effective": "0-1,5\n",
    };
    expect(limits(files)).toEqual({ cpus: 3, memory: 3 * GIB });
  });

  test("memory.high counts, as beyond it a group is throttled", () => {
    const files = {
      ...inGroup("/a"),
      "/sys/fs/cgroup/a/memory.max": `${4 * GIB}`,
      "/sys/fs/cgroup/a/memory.high": `${GIB}`,
    };
    expect(limits(files).memory).toBe(GIB);
  });

  test("in a container with its own view, the mount's directory is the group's", () => {
    expect(limits({ ...inGroup("/"), "/sys/fs/cgroup/cpu.max": "50000 100000" }).cpus).toBe(0.5);
    expect(limits({ ...inGroup("/../../other"), "/sys/fs/cgroup/cpu.max": "50000 100000" }).cpus).toBe(0.5);
    const box = machine(inGroup("/../../other"));
    readCgroupLimits(box.readFile);
    expect(box.read.filter((path) => path.includes(".."))).toEqual([]);
  });
});

describe("version 1", () => {
  const places = "5:memory:/docker/abc\n3:cpuset:/\n2:cpu,cpuacct:/docker/abc\n1:name=systemd:/docker/abc\n";
  const files = (root = "/"): Files => ({
    "/proc/self/cgroup": places,
    "/proc/self/mountinfo":
      v1("cpu,cpuacct", root) +
      v1("memory", root) +
      v1("cpuset") +
      mount("/sys/fs/cgroup/systemd", "/", "cgroup systemd rw,name=systemd"),
  });

  test("quota, memory and cpuset, each in its hierarchy", () => {
    const all = {
      ...files(),
      "/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us": "150000\n",
      "/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us": "100000\n",
      "/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": `${GIB}\n`,
      "/sys/fs/cgroup/cpuset/cpuset.cpus": "0-3\n",
    };
    expect(limits(all)).toEqual({ cpus: 1.5, memory: GIB });
  });

  test("-1 and 2^63 less a page are no limits", () => {
    const all = {
      ...files(),
      "/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us": "-1\n",
      "/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us": "100000\n",
      "/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": "9223372036854771712\n",
    };
    const facts = readHostFacts(machine(all));
    expect([facts.cpu, facts.memMb]).toEqual([8, 16 * 1024]);
  });

  test("a container that sees its own group as the mount's root", () => {
    const all = { ...files("/docker/abc"), "/sys/fs/cgroup/memory/memory.limit_in_bytes": `${GIB}\n` };
    expect(limits(all).memory).toBe(GIB);
  });

  test("a group that only begins as the mount's root is not below it", () => {
    const all = { ...files("/docker/a"), "/sys/fs/cgroup/memory/bc/memory.limit_in_bytes": `${GIB}\n` };
    expect(limits(all).memory).toBe(Number.POSITIVE_INFINITY);
  });

  test("hybrid: version 2 is there, but empty", () => {
    const base = files();
    const all = {
      "/proc/self/cgroup": `${places}0::/docker/abc\n`,
      "/proc/self/mountinfo": `${base["/proc/self/mountinfo"]}${mount("/sys/fs/cgroup/unified", "/", "cgroup2 cgroup2 rw")}`,
      "/sys/fs/cgroup/memory/docker/memory.limit_in_bytes": `${GIB}\n`,
    };
    expect(limits(all)).toEqual({ cpus: Number.POSITIVE_INFINITY, memory: GIB });
  });
});

describe("parsing", () => {
  test("a mount point with a space, and a place with a colon", () => {
    const files = inGroup("/a:b\nnonsense", mount("/my\\040groups", "/", "cgroup2 none rw"));
    expect(limits({ ...files, "/my groups/a:b/memory.max": "7" }).memory).toBe(7);
  });

  const readCpus = (name: string, text: string) =>
    limits({ ...inGroup("/"), [`/sys/fs/cgroup/${name}`]: text }).cpus;

  test.each(["0 100000", "100000 0", ""])("cpu.max %j is no limit", (text) => {
    expect(readCpus("cpu.max", text)).toBe(Number.POSITIVE_INFINITY);
  });

  test.each([
    ["0-3,8\n", 5],
    ["7", 1],
    ["", Number.POSITIVE_INFINITY],
    ["3-1", Number.POSITIVE_INFINITY],
    ["x,2", 1],
  ])("the list %j: %d", (text, count) => {
    expect(readCpus("cpuset.cpus.effective", text)).toBe(count);
  });

  test("processors in both lists are those in both sets", () => {
    const cpus = fc.uniqueArray(fc.nat(40), { minLength: 1 });
    fc.assert(
      fc.property(cpus, cpus, (one, other) => {
        expect(countSharedCpus(one.join(","), other.join(","))).toBe(
          one.filter((cpu) => other.includes(cpu)).length,
        );
      }),
    );
    expect(countSharedCpus("0-127", "0-3,6")).toBe(5);
  });
});

test("of any nesting, the tightest limit on the way up holds, and nothing beside it", () => {
  const limit = fc.option(fc.integer({ min: 1, max: 1_000 }), { nil: undefined });
  fc.assert(
    fc.property(fc.array(limit, { minLength: 1, maxLength: 6 }), limit, (nested, beside) => {
      const files: Files = inGroup(
        `/${nested
          .slice(1)
          .map((_, depth) => `d${depth}`)
          .join("/")}`,
      );
      nested.forEach((one, depth) => {
        const directory = [
          "/sys/fs/cgroup",
          ...nested.slice(1, depth + 1).map((_, level) => `d${level}`),
        ].join("/");
        files[`${directory}/memory.max`] = one === undefined ? "max" : String(one);
        if (beside !== undefined) files[`${directory}/sibling/memory.max`] = String(beside);
      });
      const stated = nested.filter((one) => one !== undefined);
      expect(limits(files).memory).toBe(Math.min(Number.POSITIVE_INFINITY, ...stated));
    }),
  );
});

test("whatever the kernel's files hold, there is at least one processor and one MiB", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("0::/a\n", V2, v1("cpu"), "-1", "0", "max", "1 1", "9".repeat(400)),
  );
  const paths = [
    "/proc/self/cgroup",
    "/proc/self/mountinfo",
    "/proc/self/status",
    "/sys/fs/cgroup/cpu.max",
    "/sys/fs/cgroup/memory.max",
    "/etc/hosts",
  ];
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...paths), text), (files) => {
      const facts = readHostFacts(machine(files));
      for (const one of [facts.cpu, facts.memMb]) expect(Number.isSafeInteger(one) && one >= 1).toBe(true);
    }),
  );
});

describe("hostFacts", () => {
  test("nothing of the kernel's is read before CPU or MEMMB is asked for, and nothing twice", () => {
    const box = machine(inGroup("/"), { hostname: () => "web1.example.com" });
    const facts = readHostFacts(box);
    expect(box.read).toEqual([]);
    expect([facts.cpu, facts.memMb, facts.cpu, facts.memMb]).toEqual([8, 16_384, 8, 16_384]);
    expect(new Set(box.read).size).toBe(box.read.length);
  });

  test("the quota is cut to whole processors, but not to none", () => {
    const cpu = (quota: string) =>
      readHostFacts(machine({ ...inGroup("/"), "/sys/fs/cgroup/cpu.max": quota })).cpu;
    expect(["250000 100000", "99999 100000", "1 100000", "max 100000"].map(cpu)).toEqual([2, 1, 1, 8]);
  });

  test("processors are those allowed, of those that are there", () => {
    const files = {
      "/proc/self/status": "Name:\tnode\nCpus_allowed:\tff\nCpus_allowed_list:\t2-127\nMems_allowed:\t1\n",
      "/sys/devices/system/cpu/online": "0-5\n",
    };
    expect(readHostFacts(machine(files)).cpu).toBe(4);
  });

  test.each([
    ["the configured name", { host: "Sim7.Example.com." }, "web1", "", "sim7.example.com", "sim7"],
    [
      "the kernel's, with a domain",
      {},
      "web1.example.com",
      "10.0.0.1 web1.example.org web1",
      "web1.example.com",
      "web1",
    ],
    [
      "that in /etc/hosts",
      {},
      "web1",
      "127.0.0.1 localhost\n127.0.1.1 web1.example.com web1 # own\n",
      "web1.example.com",
      "web1",
    ],
    ["the bare name", {}, "Web1", "127.0.0.1 localhost.localdomain localhost web1\n", "web1", "web1"],
  ])("FQDN: %s", (_, settings, hostname, hosts, fqdn, host) => {
    const facts = readHostFacts(machine({ "/etc/hosts": hosts }, { hostname: () => hostname }), settings);
    expect([facts.fqdn, facts.host]).toEqual([fqdn, host]);
  });

  test.each([
    ["# 10.0.0.1 web1.example.com web1", "web1"],
    ["10.0.0.1 web1 web1.example.com", "web1.example.com"],
    ["10.0.0.1 web10.example.com web1", "web1"],
    ["10.0.0.1 web1.example.com", "web1"],
    ["", "web1"],
  ])("FQDN with %j in /etc/hosts", (text, fqdn) => {
    expect(readHostFacts(machine({ "/etc/hosts": text })).fqdn).toBe(fqdn);
  });
});
