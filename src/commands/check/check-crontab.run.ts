import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { EXIT, SignalboxError } from "../../base/errors.ts";
import type { Finding } from "../../base/finding.ts";
import { quoted } from "../../base/text.ts";
import { resolveConfig } from "../../config/config.ts";
import { StoreError } from "../../etcd/store.ts";
import type { CrontabFormat } from "../../fleet/crontab.ts";
import { type Configured, judgeJobs } from "../../model/checks/crontab.ts";
import type { Picture, Room } from "../../model/picture.ts";
import { listFlag, textFlag } from "../flags.ts";
import { pictureOf } from "../look.ts";
import type { Call, Execute, Surroundings } from "../spec.ts";
import { withStore } from "../with-store.ts";
import { type CrontabReading, type CrontabText, type Ground, readJobs } from "./crontab/read.ts";
import { conclude, findingLines, type Report, tellingNagios } from "./findings.ts";

/** What jobs depend on. */
const ROOMS: readonly Room[] = ["groups", "resourceConfigs", "hosts"];

const offline: Execute = async (call, world) => {
  const { values } = resolveConfig({ flags: call.settings, env: world.env });
  const reading = await readAllJobs(call, world, { settings: values, home: world.env.HOME });
  return finish(call, world, reading, undefined, []);
};

const online = withStore(async (call, world, desk) => {
  const reading = await readAllJobs(call, world, { settings: desk.settings, home: world.env.HOME });
  try {
    const picture = await pictureOf(desk, ROOMS);
    return finish(call, world, reading, picture, []);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const detail = `it could not be asked what is configured, so only the text was checked: ${error.message}`;
    const remedy = "--offline leaves it out; see: signalbox doctor";
    return finish(call, world, reading, undefined, [
      { kind: "etcd", check: "etcd", level: "unknown", detail, remedy },
    ]);
  }
});

export const execute = tellingNagios((call, world) => (call.flags.offline ? offline : online)(call, world));

async function readAllJobs(
  call: Call,
  world: Surroundings,
  ground: Ground,
): Promise<CrontabReading & { files: number }> {
  const format = textFlag(call, "format") as CrontabFormat | undefined;
  const texts: CrontabText[] = [];
  for (const path of call.args)
    texts.push(...(await textsAt(path, world)).map((text) => ({ ...text, format })));
  const readings = texts.map((text) => readJobs(text, ground));
  return {
    files: texts.length,
    jobs: readings.flatMap(({ jobs }) => jobs),
    findings: readings.flatMap(({ findings }) => findings),
  };
}

/** The crontabs that a word means. @throws SignalboxError 74 where one cannot be read */
async function textsAt(path: string, world: Surroundings): Promise<{ path: string; text: string }[]> {
  if (path === "-") return [{ path: "stdin", text: await world.input() }];
  try {
    if (!statSync(path).isDirectory()) return [{ path, text: readFileSync(path, "utf8") }];
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => !entry.isDirectory() && !entry.name.startsWith("."))
      .map(({ name }) => join(path, name))
      .sort()
      .map((file) => ({ path: file, text: readFileSync(file, "utf8") }));
  } catch (cause) {
    throw new SignalboxError(EXIT.io, `${quoted(path)} cannot be read: ${(cause as Error).message}`, {
      cause,
    });
  }
}

function finish(
  call: Call,
  world: Surroundings,
  { jobs, files, findings: textual }: CrontabReading & { files: number },
  configured: (Configured & Pick<Picture, "revision">) | undefined,
  more: readonly Finding[],
): number {
  const shared = new Set(listFlag(call, "shared"));
  const findings = [...textual, ...judgeJobs(jobs, configured, shared)].sort(byPlace);
  const report: Report = {
    findings: [...findings, ...more],
    figures: [
      { name: "files", value: files },
      { name: "jobs", value: jobs.length },
    ],
    summary: `${counted(jobs.length, "job")} in ${counted(files, "crontab")}`,
    revision: configured?.revision,
  };
  if (!call.flags.json && !call.flags.nagios)
    for (const finding of report.findings) world.out(findingLines(finding, world));
  return conclude(report, call.flags, world);
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** By file and line; the order within a line stays. */
function byPlace(a: Finding, b: Finding): number {
  const [, fileA = a.check, lineA = 0] = /^(.*):(\d+)$/.exec(a.check) ?? [];
  const [, fileB = b.check, lineB = 0] = /^(.*):(\d+)$/.exec(b.check) ?? [];
  return fileA === fileB ? Number(lineA) - Number(lineB) : fileA < fileB ? -1 : 1;
}
