/** Many runs from workers side by side, some of which are killed. */
import { setTimeout as pause } from "node:timers/promises";
import type { ProcessResult } from "../../../fixtures/signalbox.ts";
import { countStalls } from "../../../fixtures/steady.ts";
import type { Job, Stage } from "./theatre.ts";

/** When a runner gets SIGKILL: a while after it was spawned, or after its command has started. Milliseconds. */
export type Doom = { after: "spawn" | "start"; ms: number };

export interface Member extends Job {
  doom?: Doom | undefined;
}

/** So that what a killed runner held is soon free. */
const MORTAL = ["--ttl", "2s", "--termination-timeout", "300ms"];
/** Nothing may cost the others their claim, not even a machine that stands still. */
const SPARED = ["--ttl", "2m"];

/** How each member ended, by name; those that were killed have no code. */
export type Ends = ReadonlyMap<string, ProcessResult>;

/** Runs all members, so many at a time. */
export async function crowd(stage: Stage, members: readonly Member[], workers: number): Promise<Ends> {
  const left = [...members];
  const ends = new Map<string, ProcessResult>();
  const worker = async () => {
    for (let member = left.shift(); member !== undefined; member = left.shift()) {
      ends.set(member.name, await attend(stage, member));
    }
  };
  await Promise.all(Array.from({ length: workers }, worker));
  return ends;
}

async function attend(stage: Stage, member: Member): Promise<ProcessResult> {
  const { doom, options } = member;
  const before = countStalls();
  const ttl = doom === undefined ? SPARED : MORTAL;
  const running = stage.run({ ...member, options: [...ttl, ...options] });
  if (doom !== undefined) {
    const over = new AbortController();
    void running.ended.then(() => over.abort());
    await instant(stage, member, doom, over.signal);
    running.child.kill("SIGKILL");
  }
  const ended = await running.ended;
  return countStalls() === before ? ended : { ...ended, stderr: ended.stderr.replace(UNANSWERED, "") };
}

/** What a run says where no answer comes: on a machine that stands still for two seconds that may happen. */
const UNANSWERED =
  /^signalbox: warn: (the claim was not freed; it ends with its session|etcd does not answer, the session was not renewed) .*\n/gm;

/** Waits for the instant of a doom, or until there is nobody left to be killed. */
async function instant(stage: Stage, { name }: Member, doom: Doom, over: AbortSignal): Promise<void> {
  while (doom.after === "start" && !over.aborted && !stage.journal.of(name, "start")) await pause(10);
  await pause(doom.ms, undefined, { signal: over }).catch(() => {});
}

/**
 * What went wrong with those that were not killed: nothing may cost them their claim, nor make them say a word.
 * @param codes  with which a member may end
 */
export function complaints(
  members: readonly Member[],
  ends: Ends,
  codes: (member: Member) => readonly number[],
): string[] {
  return members.flatMap((member) => {
    const { code = null, stdout = "", stderr = "" } = ends.get(member.name) ?? {};
    const isFine = code !== null && codes(member).includes(code) && stdout + stderr === "";
    return isFine || member.doom ? [] : [`${member.name} ended with ${code}, saying: ${stdout}${stderr}`];
  });
}
