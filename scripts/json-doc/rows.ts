/** The rows of `signalbox ls --json`, and what they are made of. */

import { SCHEDULE_STATES } from "../../src/model/rows/schedule-row.ts";
import { AUDIT_ACTIONS } from "../../src/protocol/audit.ts";
import { DRAIN_SCOPES } from "../../src/protocol/keys.ts";
import { OCCURRENCE_RESULTS } from "../../src/schedule/state/outcome.ts";
import { CLOCK_STATES } from "../../src/schedule/state/worker-record.ts";
import {
  createChoiceSchema,
  createCountSchema,
  createListSchema,
  createNumberSchema,
  createObjectSchema,
  createRefSchema,
  createRevisionSchema,
  createTextSchema,
  createTextsSchema,
  createWallSchema,
  type JsonSchema,
} from "./schema.ts";

const kind = createChoiceSchema(["lock", "resource"], "what it is");
const state = createChoiceSchema(
  ["waiting", "admitted", "held", "grace", "malformed"],
  "`admitted`: its turn here, waiting elsewhere; `grace`: its command has ended, its place is kept; `malformed`: the ticket cannot be read, so most fields are missing",
);

/** What a ticket says; all of it is missing where it cannot be read. */
const said = {
  "host?": createTextSchema("full name of the host it runs on"),
  "pid?": { type: "integer", description: "of its runner" },
  "user?": createTextSchema("who runs it"),
  "command?": createTextSchema("base name of its command"),
  "args?": createTextsSchema("the command's arguments, where the run records them"),
  "label?": createTextSchema("what the user calls it"),
};
const times = {
  "enqueuedAt?": createWallSchema("when it claimed"),
  "grantedAt?": createWallSchema("when it was granted"),
};
const units = {
  "count?": createCountSchema("units asked for; 1 on a lock"),
  "total?": createCountSchema("units there are, as this run states it"),
};
const until = { "until?": createWallSchema("in `grace`: when the place is free") };
const reset = { "reset?": createRefSchema("reset") };

const drain = {
  scope: createChoiceSchema(DRAIN_SCOPES, "what it stops"),
  name: createTextSchema("of the lock, resource, host or group; `all` in the scope `all`"),
  by: createTextSchema("who drained it"),
  at: createWallSchema("since when; 0 where it does not say"),
  "why?": createTextSchema("the reason that was given"),
  "until?": createWallSchema("when it ends by itself"),
  revision: createRevisionSchema("revision of etcd of its last change"),
};

export const ROWS: Readonly<Record<string, JsonSchema>> = {
  lockOrResource: createObjectSchema("A lock or a resource.", {
    ...{ kind, name: createTextSchema("its name") },
    state: createChoiceSchema(
      ["held", "waiting", "grace", "admitted", "drained", "resetting", "malformed", "free"],
      "`waiting`: nobody holds it, somebody is about to; `admitted`: a run has its turn, and waits for leases; `drained`: nobody holds it, nor may; `resetting`: its holder was asked to give it up; `malformed`: the first ticket cannot be read. What is drained while it is held is `held`: see `drains`",
    ),
    used: createCountSchema("units that are held"),
    "total?": createCountSchema(
      "units there are: as configured, or as the first ticket states it; 1 for a lock",
    ),
    "configured?": createRefSchema("configured"),
    holders: createListSchema("ticket", "who holds it, the oldest first"),
    waiters: createListSchema("ticket", "who waits, in order"),
    drains: createListSchema("drain", "of it, or of everything"),
  }),
  waiter: createObjectSchema("One that waits, in one queue.", {
    ...{ kind, name: createTextSchema("of the lock or resource") },
    position: { type: "integer", minimum: 1, description: "from 1, over all tickets of the queue" },
    ...{
      run: createTextSchema("id of the run"),
      state: { ...state, enum: ["waiting", "admitted", "malformed"] },
    },
    ...{ ...said, ...units, ...times, ...until, ...reset },
    token: createRevisionSchema("`create_revision` of the ticket"),
    drains: createListSchema(
      "drain",
      "what stops it here: drains of the lock or resource, its host, its groups, everything",
    ),
  }),
  run: createObjectSchema("A run with all its tickets.", {
    run: createTextSchema("its id"),
    state: { ...state, description: "of the ticket that is furthest from being held" },
    ...{ ...said, ...times, ...reset },
    token: createRevisionSchema(
      "fencing token: `create_revision` of the lock's ticket, without a lock that of the leases'",
    ),
    tickets: createListSchema(
      "stand",
      "every queue it stands in; none where a worker runs it and it holds no leases",
    ),
    "schedule?": createTextSchema("id of the schedule, where a worker runs it"),
    "scheduled?": createWallSchema("nominal time of the schedule's occurrence"),
    drains: createListSchema("drain", "what stops it, where it waits"),
  }),
  host: createObjectSchema("A host that was seen, that has claimed something, or that a group names.", {
    host: createTextSchema("full name, in small letters"),
    "seenAt?": createWallSchema(
      "when it last said that it is there, which it does every five minutes at most; missing: never",
    ),
    "cpu?": createNumberSchema("processors"),
    "memMb?": createNumberSchema("memory, MiB"),
    "macros?": {
      ...{ type: "object", description: "the host's own macros" },
      additionalProperties: { type: ["number", "string"] },
    },
    "version?": createTextSchema("of signalbox there"),
    holds: createCountSchema("runs there that hold all they asked for"),
    waits: createCountSchema("runs there that wait"),
    groups: createTextsSchema("groups it is in, also through others"),
    drains: createListSchema("drain", "of it, of its groups, of everything"),
  }),
  group: createObjectSchema("A group of hosts.", {
    group: createTextSchema("its name"),
    members: createTextsSchema("as operators wrote them: hosts and groups"),
    hosts: createTextsSchema("all hosts, also through other groups"),
    live: createCountSchema("how many of these were seen in the last hour"),
    "fault?": createTextSchema("why its value cannot be read"),
    drains: createListSchema("drain", "of it, or of everything"),
  }),
  drainRow: createObjectSchema("A drain.", {
    ...drain,
    ended: { type: "boolean", description: "its time is over: it stops nothing any more" },
  }),
  schedule: createObjectSchema("A schedule. `signalbox show schedule` has more.", {
    schedule: createTextSchema("its id"),
    state: createChoiceSchema(SCHEDULE_STATES, "the first of `states`"),
    states: createTextsSchema(
      "all that holds of it. `due`: its next run may be taken; `late`: so it has been for ten seconds; `retrying`: what failed is tried again; `failed`: the last run failed and is not; `no-worker`: none has a handler for it; `ended`: it runs no more",
    ),
    "fault?": createTextSchema("why its keys cannot be read"),
    task: createTextSchema("its command, or the type that chooses the handler"),
    "next?": createWallSchema("when it may run next"),
    "nominal?": createWallSchema(
      "the time that this stands for in the cron text: without delay, jitter, pause",
    ),
    "definition?": { type: "object", description: "what operators keep, as `schedule export` has it" },
    open: createListSchema("open", "occurrences that were taken up or triggered, and have not ended"),
    "last?": createRefSchema("last"),
    dead: { type: "integer", description: "dead letters that are kept" },
    runs: createListSchema("execution", "who runs it now, the oldest first"),
  }),
  worker: createObjectSchema("A worker.", {
    worker: createTextSchema("its id"),
    ...{
      "host?": createTextSchema("full name of its host"),
      "pid?": { type: "integer", description: "of its process" },
    },
    ...{ "version?": createTextSchema("of signalbox there"), "since?": createWallSchema("when it began") },
    "wall?": createWallSchema("its clock when it last wrote"),
    "beat?": createCountSchema("how often it has written"),
    "types?": createTextsSchema(
      "types that it has handlers for, `/regular expressions/` among them; `$command`: commands",
    ),
    "tags?": createTextsSchema("its tags"),
    ...{
      running: createCountSchema("tasks that it runs"),
      "concurrency?": createCountSchema("tasks that it runs at most"),
    },
    "clock?": createChoiceSchema(
      CLOCK_STATES,
      "`warns`: more than 0.5 s off; `refuses`: more than 5 s, it starts nothing",
    ),
    isLeaving: { type: "boolean", description: "it takes nothing more" },
    "fault?": createTextSchema("why its word cannot be read"),
  }),
  pastRun: createObjectSchema("A run that has ended. A lock remembers its last 20.", {
    ...{ lock: createTextSchema("the lock it held"), run: createTextSchema("its id") },
    state: createChoiceSchema(
      ["ok", "failed", "killed", "ended"],
      "`ok`: exit 0; `killed`: by a signal; `ended`: signalbox ended it, see `reason`",
    ),
    ...{
      host: createTextSchema("full name of the host it ran on"),
      pid: { type: "integer", description: "of its runner" },
    },
    ...{
      command: createTextSchema("base name of its command"),
      "label?": createTextSchema("what the user called it"),
    },
    token: createRevisionSchema("fencing token that it had"),
    ...{
      enqueuedAt: createWallSchema("when it claimed"),
      grantedAt: createWallSchema("when it was granted"),
      endedAt: createWallSchema("when it ended"),
    },
    ...{
      waited: createNumberSchema("ms that it waited"),
      held: createNumberSchema("ms that it held the lock"),
    },
    exit: { type: "integer", description: "exit code of the command; more than 128: 128 and the signal" },
    "reason?": createTextSchema("why signalbox ended the command, where it did"),
  }),
  auditRecord: createObjectSchema("What an operator did.", {
    id: createTextSchema("ids sort by time"),
    ...{ at: createWallSchema("when"), user: createTextSchema("who"), host: createTextSchema("where") },
    "sudoUser?": createTextSchema("who became `user` by sudo"),
    action: createChoiceSchema(AUDIT_ACTIONS, "what was done"),
    target: createTextSchema("to what: `lock invoices`, `host web1.example.com`, `all`"),
    seen: createRevisionSchema("revision of etcd that the operator saw"),
    "reason?": createTextSchema("why, where that was said"),
    outcome: createTextSchema("what became of it"),
  }),
  problem: createObjectSchema("Something that an operator should look at.", {
    kind: createChoiceSchema(
      [
        ...["malformed", "orphan", "totals", "too-large", "overdue", "long-hold", "long-wait"],
        ...["reset-unanswered", "clock", "drain-ended", "group", "host"],
        ...["late", "dead-letter", "no-worker"],
      ],
      "what it is",
    ),
    level: createChoiceSchema(["warning", "failure"], "`failure`: something does not work"),
    subject: createTextSchema("what it is about: `lock invoices`"),
    detail: createTextSchema("a sentence for people"),
    remedy: createTextSchema("what to type, or what to look at"),
    "host?": createTextSchema("the host it has to do with, where there is one"),
    "run?": createTextSchema("the run, likewise"),
  }),
};

/** What rows are made of. */
export const PARTS: Readonly<Record<string, JsonSchema>> = {
  ticket: createObjectSchema("A run in a queue.", {
    ...{ run: createTextSchema("id of the run"), state, ...said, ...units, ...times, ...until, ...reset },
    token: createRevisionSchema("fencing token, where this is the lock's ticket: its `create_revision`"),
  }),
  open: createObjectSchema("An occurrence of a schedule that was taken up or triggered.", {
    ...{
      scheduled: createWallSchema("its nominal time"),
      runAt: createWallSchema("when it may be started, unless it runs"),
    },
    attempt: createCountSchema("how often it was started"),
    failures: createCountSchema("how often it failed"),
    kind: createChoiceSchema(["due", "trigger"], "`trigger`: an operator asked for it"),
  }),
  last: createObjectSchema("How the last occurrence that was started has ended.", {
    ...{
      scheduled: createWallSchema("its nominal time"),
      startedAt: createWallSchema("when it was started"),
    },
    ...{
      endedAt: createWallSchema("when it ended"),
      late: createNumberSchema("ms that it was started late"),
    },
    result: createChoiceSchema(
      OCCURRENCE_RESULTS,
      "`released`, `retry`: its handler wished so; `lost`: with its worker",
    ),
    run: createTextSchema("id of the run"),
  }),
  execution: createObjectSchema(
    "An occurrence of a schedule that a worker runs; where its key cannot be read, all but the token is missing.",
    {
      ...{ "worker?": createTextSchema("the worker's id"), "host?": createTextSchema("its host") },
      "pid?": { type: "integer", description: "of the worker" },
      ...{ "run?": createTextSchema("id of the run"), "scheduled?": createWallSchema("its nominal time") },
      ...{
        "attempt?": createCountSchema("for the how-manieth time"),
        "since?": createWallSchema("when it was started"),
      },
      ...{
        "late?": createNumberSchema("ms that it was started late"),
        "fault?": createTextSchema("why its key cannot be read"),
      },
      token: createRevisionSchema("fencing token: `create_revision` of its key"),
    },
  ),
  stand: createObjectSchema("A run's ticket, in short.", {
    ...{
      kind,
      name: createTextSchema("of the lock or resource"),
      state,
      "count?": createCountSchema("units"),
    },
  }),
  drain: createObjectSchema("Nothing new starts in its scope.", drain),
  reset: createObjectSchema("An operator asked a run to give up its claim.", {
    ...{
      by: createTextSchema("who asked"),
      at: createWallSchema("when"),
      "why?": createTextSchema("the reason that was given"),
    },
  }),
  configured: createObjectSchema("What operators keep about a resource.", {
    "total?": createTextSchema("a number, or an expression over macros"),
    "order?": createNumberSchema("place in listings, the smallest first"),
    "note?": createTextSchema("a word about it"),
  }),
};
