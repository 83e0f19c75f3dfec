import type { WallTime } from "../../core/base/clock.ts";
import { SignalboxError } from "../../core/base/errors.ts";
import type { Log } from "../../core/base/log.ts";
import type { Random } from "../../core/base/random.ts";
import type { MacroLookup } from "../../core/fleet/arithmetic.ts";
import { CONDITION_INTERVAL, HostConditions } from "../../core/fleet/conditions.ts";
import { type Definition, getDeadline } from "../../schedule/definition.ts";
import type { Candidate } from "../../schedule/state/next-candidate.ts";
import type { CachedSchedule } from "../cache/cached-schedule.ts";

/**
 * What this worker may do with a candidate now. `start`: claim it. `wait`: nothing before `until`. `skip`: it must
 * not start here, and it is too late to wait, so it is skipped because of `why`.
 */
type GateVerdict = { kind: "start" } | { kind: "wait"; until: WallTime } | { kind: "skip"; why: string };

/** Checks the conditions of schedules on the host of this worker. */
export class ConditionGate {
  readonly #host: string;
  readonly #measure: MacroLookup;
  readonly #ports: { log: Log; random: Random };
  /** Names of the schedules whose conditions did not hold at the last check. */
  readonly #unmet = new Set<string>();

  /** @param measure  see `createConditionLookup` */
  constructor(host: string, measure: MacroLookup, ports: { log: Log; random: Random }) {
    this.#host = host;
    this.#measure = measure;
    this.#ports = ports;
  }

  judge(entry: CachedSchedule, candidate: Candidate, now: WallTime): GateVerdict {
    const why = this.findUnmet(entry);
    if (entry.definition === undefined || why === undefined) return { kind: "start" };
    const skipAt = computeSkipTime(entry.definition, candidate);
    if (skipAt <= now) return { kind: "skip", why: `on ${this.#host}, ${why}` };
    return { kind: "wait", until: Math.min(skipAt, this.computeNextCheck(now)) };
  }

  /** Returns why the conditions of a schedule do not hold on this host; undefined if they hold. Never throws. */
  findUnmet({ id, name, definition }: CachedSchedule): string | undefined {
    if (definition?.if === undefined) return undefined;
    const why = this.#check(definition.if);
    if (why === undefined) this.#unmet.delete(name);
    else if (!this.#unmet.has(name)) {
      this.#unmet.add(name);
      this.#ports.log.info("not started here now", { schedule: id, why });
    }
    return why;
  }

  /** Returns when to check conditions again that do not hold. */
  computeNextCheck(now: WallTime): number {
    return now + CONDITION_INTERVAL * (0.5 + this.#ports.random.generateFraction());
  }

  #check(conditions: readonly string[]): string | undefined {
    try {
      return new HostConditions(conditions, this.#measure).findUnmet();
    } catch (error) {
      if (error instanceof SignalboxError) return error.message;
      throw error;
    }
  }
}

/** Returns when it is too late to start a candidate. */
function computeSkipTime(definition: Definition, { open, isBackfilled, runAt }: Candidate): WallTime {
  if (open !== undefined || isBackfilled) return Infinity;
  return runAt + (getDeadline(definition) ?? Infinity) + 1;
}
