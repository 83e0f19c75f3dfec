/** The commands of docs/three-hosts.md on three bare Debian hosts: a job in three crontabs that survives the loss of a host. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HostNetwork } from "../../fixtures/hosts/host-network.ts";
import { countCommands, readPageBlocks } from "../../fixtures/hosts/page-blocks.ts";
import { explainNoBareRoot } from "../../fixtures/packages/requirements.ts";
import { waitUntil } from "../../fixtures/wait-until.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const NAMES = ["host1", "host2", "host3"] as const;
const ARCH = process.arch === "arm64" ? "arm64" : "amd64";
const SUITE = process.env.DEBIAN_SUITE || "bookworm";
/** Longer than the time until cron's next minute and a run. */
const NEXT_RUN = { ms: 150_000 };

/** A run of the page's job, as the job itself has recorded it. */
interface JobRun {
  host: string;
  /** In milliseconds since 1970. */
  start: number;
  /** Undefined while it runs, and if it was killed. */
  end: number | undefined;
}

/** Reads the file to which the job of a host writes `start TIME` and `end TIME`. */
function readJobRuns(host: string, text: string): JobRun[] {
  const runs: JobRun[] = [];
  for (const [, word, time = ""] of text.matchAll(/^(start|end) (\S+)\n/gm)) {
    const at = Date.parse(time);
    const last = runs.at(-1);
    if (word === "start") runs.push({ host, start: at, end: undefined });
    else if (last !== undefined && last.end === undefined) last.end = at;
    else throw new Error(`${host}: an end without a start:\n${text}`);
  }
  return runs;
}

const blocks = readPageBlocks(readFileSync(join(ROOT, "docs/three-hosts.md"), "utf8")).map((block) => ({
  ...block,
  text: block.text.replaceAll("_amd64.deb", `_${ARCH}.deb`),
}));
const [setup, crontab, history] = blocks.map(({ text }) => text);
const obstacle = explainNoBareRoot();

test("a reader types four commands, all on the first host, and one to see the result", () => {
  expect(blocks.map(({ place, text }) => [place, countCommands(text)])).toEqual([
    ["host1", 2],
    ["host1", 2],
    ["any host", 1],
  ]);
});

describe.skipIf(obstacle !== undefined)(`three hosts${obstacle ? ` (${obstacle})` : ""}`, () => {
  let network: HostNetwork;
  beforeAll(async () => {
    network = await HostNetwork.create(SUITE, NAMES);
    addPackage();
  });
  afterAll(() => network?.close());

  /** Puts the package of this checkout where the page expects it. */
  function addPackage() {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-package-"));
    const args = [join(ROOT, "scripts/package.ts"), "deb", "--arch", ARCH, "--to", folder];
    const env = { ...process.env, DPKG_DEB_COMPRESSOR_LEVEL: "0" };
    try {
      execFileSync(process.execPath, args, { cwd: ROOT, env, stdio: ["ignore", "ignore", "inherit"] });
      cpSync(folder, join(network.getHost("host1").folder, "root"), { recursive: true });
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  /** Reads the job's own records on all hosts, also on the one that was killed, in the order of their starts. */
  function listRuns(): JobRun[] {
    const runs = NAMES.flatMap((name) =>
      readJobRuns(name, network.getHost(name).readText("var/log/hello.log")),
    );
    return runs.sort((a, b) => a.start - b.start);
  }

  async function waitForRun(what: string, isIt: (run: JobRun) => boolean) {
    const describeRuns = () => JSON.stringify(listRuns());
    await waitUntil(what, () => listRuns().some(isIt), { ...NEXT_RUN, describe: describeRuns });
    return listRuns().find(isIt) as JobRun;
  }

  test("installs everything, and sets up etcd with TLS and users", () => {
    expect(network.getHost("host1").require(setup ?? "")).toMatch(/^ok +authentication: etcd requires/m);
    for (const name of NAMES) {
      const report = network.getHost(name).require("signalbox init");
      expect(report).toMatch(/^ok +permissions: runs: /m);
      expect(report).toMatch(/^ok +cluster: /m);
      expect(report).not.toMatch(/^failure/m);
    }
  });

  test("keeps what is done when it is typed again", () => {
    const report = network.getHost("host1").require(setup ?? "");
    for (const name of NAMES) {
      expect(report).toMatch(new RegExp(`^${name}: signalbox \\S+ and etcd are installed$`, "m"));
      expect(report).toMatch(new RegExp(`^${name}: is a member, nothing has changed$`, "m"));
    }
    expect(report).toMatch(/^user operator: is there$/m);
  });

  test("runs the job on one host, and on another one when that is lost", async () => {
    network.getHost("host1").require(crontab ?? "");
    const first = await waitForRun("the end of the first run", ({ end }) => end !== undefined);
    expect(network.getHost("host1").require(history ?? "")).toContain(first.host);
    const second = await waitForRun("the second run", ({ start }) => start > first.start);
    await network.kill(second.host);
    const killed = Date.now();
    const third = await waitForRun(
      "a run on another host",
      ({ start, end }) => start > killed && end !== undefined,
    );

    expect(third.host).not.toBe(second.host);
    expect(network.getHost(third.host).require(history ?? "")).toContain(third.host);
    const runs = listRuns();
    const minutes = runs.map(({ start }) => Math.floor(start / 60_000));
    expect(new Set(minutes).size, JSON.stringify(runs)).toBe(runs.length);
    const ends = runs.map(({ end }) => end ?? killed);
    for (const [index, { start }] of runs.entries())
      if (index > 0) expect(start, JSON.stringify(runs)).toBeGreaterThanOrEqual(ends[index - 1] ?? 0);
  });
});
