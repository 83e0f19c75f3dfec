import * as v from "valibot";
import { generateRunId } from "../base/ids.ts";
import { validateName } from "../protocol/names.ts";
import { AlreadyExistsError } from "../schedule/errors.ts";
import { formatOncePlan } from "../schedule/plan/plan.ts";
import { buildJobMutation } from "../work/schedules/job-mutation.ts";
import type { LibraryConnection } from "./connection.ts";
import { UsageError } from "./errors.ts";
import { DURATION, FLAG, INSTANT, parseOptions, TEXT } from "./options-schema.ts";
import type { SchedulesImpl } from "./schedules.ts";
import type { JobOptions, JobQueue, JobReceipt } from "./types.ts";

/** The options that are fields of the schedule are checked with it. */
const OPTIONS = {
  key: v.optional(TEXT),
  replaceDead: v.optional(FLAG, false),
  at: v.optional(INSTANT),
  delay: v.optional(DURATION),
  ...v.entriesFromList(
    ["priority", "retries", "backoff", "timeout", "deadline", "group", "leases", "tags"],
    v.optional(v.unknown()),
  ),
} satisfies Record<keyof JobOptions, v.GenericSchema>;

/** @see JobQueue */
export class JobQueueImpl implements JobQueue {
  readonly #connection: LibraryConnection;
  readonly #schedules: SchedulesImpl;

  constructor(connection: LibraryConnection, schedules: SchedulesImpl) {
    this.#connection = connection;
    this.#schedules = schedules;
  }

  async add(type: string, data?: unknown, options: JobOptions = {}): Promise<JobReceipt> {
    const { key, at, delay, replaceDead, ...fields } = parseOptions("jobs.add", options, OPTIONS);
    if (at !== undefined && delay !== undefined)
      throw new UsageError("at and delay exclude each other; leave one of them out");
    validateName("job type", type);
    const { clock, random } = this.#connection.ports;
    const id = `${type}.${key ?? generateRunId(random)}`;
    const start = at ?? clock.getWallTime() + (delay ?? 0);
    const schedule = {
      ...(fields as Omit<JobOptions, "key" | "at" | "delay" | "replaceDead">),
      type,
      cron: formatOncePlan(start),
      start,
      removeAfter: "success" as const,
      ...(data !== undefined && { data }),
    };
    let isDead = false;
    const handleDead = () => {
      isDead = true;
    };
    try {
      await this.#schedules.addJob(id, schedule, (definition, first) =>
        buildJobMutation(id, definition, first, { replaces: replaceDead, handleDead }),
      );
      return { id, isNew: true, isDead: false };
    } catch (error) {
      if (key !== undefined && error instanceof AlreadyExistsError) return { id, isNew: false, isDead };
      throw error;
    }
  }
}
