import { briefDuration } from "../../base/duration.ts";
import { type Definition, isPaused } from "../../schedule/definition.ts";
import type { Due } from "../../schedule/due.ts";
import type { Execution, Kept, Picture } from "../picture.ts";
import { briefWho } from "../tables/cells.ts";
import { lateText, resultTone, whoRuns } from "../tables/schedules.ts";
import { eachChange } from "./changes.ts";
import type { Draft } from "./event.ts";

/** What workers did to schedules: what started, and how it ended. */
export function executionDrafts(before: Picture, after: Picture): Draft[] {
  const drafts: Draft[] = [];
  eachChange(before.executions, after.executions, (id, was = [], is = []) => {
    const known = new Set(was.map(({ token }) => token));
    for (const one of is) if (!known.has(one.token)) drafts.push(started(id, one));
  });
  eachChange(before.dues, after.dues, (id, was, is) => {
    const last = is?.value?.last;
    // Without what was before, it is not known what of it is news.
    if (last === undefined || was === undefined || was.value?.last?.run === last.run) return;
    drafts.push(ended(id, last, [...(before.executions.get(id) ?? []), ...(after.executions.get(id) ?? [])]));
  });
  return drafts;
}

function started(id: string, execution: Execution): Draft {
  const { value } = execution;
  return {
    ...{ kind: "started", tone: "held", at: value?.since, host: value?.host },
    subject: { kind: "schedule", name: id },
    words: () => [
      ...[`schedule ${id}`, briefWho(whoRuns(execution))],
      value && value.attempt > 1 ? `for the ${value.attempt}. time` : undefined,
      value && value.late >= 1_000 ? `${lateText(value.late)} late` : undefined,
    ],
  };
}

/** @param executions  among them the one that ended, where it was seen */
function ended(id: string, last: NonNullable<Due["last"]>, executions: readonly Execution[]): Draft {
  const own = executions.find(({ value }) => value?.run === last.run);
  const { result, startedAt, endedAt } = last;
  return {
    ...{ kind: "ended", tone: resultTone(result), at: endedAt, host: own?.value?.host },
    subject: { kind: "schedule", name: id },
    words: () => [
      `schedule ${id}`,
      own && briefWho(whoRuns(own)),
      `${result} after ${briefDuration(endedAt - startedAt)}`,
    ],
  };
}

/** What operators did to a schedule, as its definition shows it. */
export function definitionDraft(
  id: string,
  was: Kept<Definition> | undefined,
  is: Kept<Definition> | undefined,
): Draft {
  return {
    ...{ kind: "configured", tone: "plain", at: undefined, subject: { kind: "schedule", name: id } },
    words: (at) => [`schedule ${id}`, changeText(was, is, at)],
  };
}

function changeText(was: Kept<Definition> | undefined, is: Kept<Definition> | undefined, at: number): string {
  if (is === undefined) return "deleted";
  if (is.value === undefined) return "malformed";
  if (was === undefined) return `added: ${is.value.cron}`;
  const [old, now] = [was.value !== undefined && isPaused(was.value, at), isPaused(is.value, at)];
  if (old === now) return "changed";
  return now ? `paused by ${is.value.pause?.by ?? "?"}` : "resumed";
}
