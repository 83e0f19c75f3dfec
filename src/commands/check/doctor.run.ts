import { UsageError } from "../../base/errors.ts";
import type { Finding } from "../../base/finding.ts";
import { quoted } from "../../base/text.ts";
import { isCompacted } from "../../etcd/persist.ts";
import { KeyCheck } from "../../model/checks/keys.ts";
import { Fold } from "../../model/fold.ts";
import type { Room } from "../../model/picture.ts";
import { examine, notChecked } from "../../work/check/examine.ts";
import { answersOf } from "../../work/check/members.ts";
import type { Role } from "../../work/check/permissions.ts";
import { load, pages } from "../../work/observe/read.ts";
import { textFlag } from "../flags.ts";
import type { Call, Surroundings } from "../spec.ts";
import { type Desk, withStore } from "../with-store.ts";
import { tryTransports, type Way } from "./doctor-transports.ts";
import { conclude, type Figure, findingLines, tellingNagios } from "./findings.ts";

/** Small rooms, which decide what the others mean. */
const AROUND: readonly Room[] = ["resourceConfigs", "groups", "drains", "hosts"];
/** A look at all keys that a compaction overtakes is begun again so often. */
const TRIES = 3;

export const execute = tellingNagios(
  withStore(async (call, world, desk) => {
    const quota = bytesFlag(call, "quota");
    const way = await tryTransports(desk);
    try {
      const findings: Finding[] = [];
      const tell = (more: readonly Finding[]) => {
        findings.push(...more);
        if (!call.flags.json && !call.flags.nagios)
          for (const finding of more) world.out(findingLines(finding, world));
      };
      const keys = await examineAll(call, { ...desk, store: way.store }, way, quota, tell);
      return finish(call, world, way, findings, keys);
    } finally {
      way.close();
    }
  }),
);

async function examineAll(
  call: Call,
  desk: Desk,
  way: Way,
  quota: number | undefined,
  tell: (findings: readonly Finding[]) => void,
): Promise<Keys | undefined> {
  const role: Role = textFlag(call, "role") === "operator" ? "operator" : "runner";
  if (way.verdict.finding !== undefined) tell([way.verdict.finding]);
  const parts = examine(desk, { ...way, quota, role, settings: desk.settings });
  for (;;) {
    const part = await parts.next();
    if (part.done === true) return part.value ? await keysOf(desk, tell) : undefined;
    tell(part.value);
  }
}

interface Keys {
  revision: bigint;
  count: number;
  tickets: number;
}

/** Every key under the prefix, page by page: their number does not matter. */
async function keysOf(desk: Desk, tell: (findings: readonly Finding[]) => void): Promise<Keys | undefined> {
  for (let left = TRIES; ; left -= 1) {
    try {
      const { check, revision } = await readKeys(desk);
      tell(check.findings(desk.facts.fqdn, desk.clock.wall()));
      return { revision, count: check.count, tickets: check.tickets };
    } catch (error) {
      desk.signal.throwIfAborted();
      if (isCompacted(error) && left > 1) continue;
      tell([notChecked("keys", error)]);
      return undefined;
    }
  }
}

async function readKeys(desk: Desk): Promise<{ check: KeyCheck; revision: bigint }> {
  const fold = new Fold(desk.keys, AROUND);
  const revision = await load(desk, fold, { signal: desk.signal });
  const check = new KeyCheck(desk.keys, fold.picture());
  for await (const page of pages(desk, desk.keys.everything(), { revision, signal: desk.signal })) {
    const wall = desk.clock.wall();
    for (const kv of page.kvs) check.see(kv, wall);
  }
  return { check, revision };
}

function finish(
  call: Call,
  world: Surroundings,
  { members }: Way,
  findings: readonly Finding[],
  keys: Keys | undefined,
): number {
  const answers = answersOf(members);
  const figures: Figure[] = [
    { name: "members", value: members.length },
    { name: "members_answering", value: answers.length },
    ...(answers.length === 0
      ? []
      : [
          { name: "db_size", value: Math.max(...answers.map(({ dbSize }) => dbSize)), unit: "B" as const },
          {
            name: "latency",
            value: Math.round(Math.max(...answers.map(({ millis }) => millis))),
            unit: "ms" as const,
          },
        ]),
    ...(keys === undefined
      ? []
      : [
          { name: "keys", value: keys.count },
          { name: "tickets", value: keys.tickets },
        ]),
  ];
  const summary = `${answers.length} of ${members.length} members answer, ${keys?.count ?? 0} keys`;
  return conclude({ findings, figures, summary, revision: keys?.revision }, call.flags, world);
}

const UNITS = ["", "k", "m", "g", "t"];

/** A size as people write it: `8GiB`, `2G`, `500MB`; all by 1024, as etcd counts. @throws UsageError */
function bytesFlag(call: Call, name: string): number | undefined {
  const text = textFlag(call, name);
  if (text === undefined) return undefined;
  const [, number = "", unit = ""] = /^(\d{1,12}(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?$/i.exec(text) ?? [];
  const bytes = number === "" ? 0 : Number(number) * 1024 ** UNITS.indexOf(unit.toLowerCase());
  if (bytes < 1) throw new UsageError(`--${name}: ${quoted(text)} is not a size, such as 8GiB`);
  return bytes;
}
