/** The rows of `signalbox ls --json`, and what they are made of. */

import { SCHEDULE_STATES } from "../../src/model/schedule-row.ts";
import { AUDIT_ACTIONS } from "../../src/protocol/audit.ts";
import { DRAIN_SCOPES } from "../../src/protocol/keys.ts";
import { RESULTS } from "../../src/schedule/outcome.ts";
import { CLOCK_STATES } from "../../src/schedule/worker-record.ts";
import {
  choice,
  count,
  list,
  number,
  object,
  ref,
  revision,
  type Schema,
  text,
  texts,
  wall,
} from "./schema.ts";

const kind = choice(["lock", "resource"], "what it is");
const state = choice(
  ["waiting", "admitted", "held", "grace", "malformed"],
  "`admitted`: its turn here, waiting elsewhere; `grace`: its command has ended, its place is kept; `malformed`: the ticket cannot be read, so most fields are missing",
);

/** What a ticket says; all of it is missing where it cannot be read. */
const said = {
  "host?": text("full name of the host it runs on"),
  "pid?": { type: "integer", description: "of its runner" },
  "user?": text("who runs it"),
  "command?": text("base name of its command"),
  "args?": texts("the command's arguments, where the run records them"),
  "label?": text("what the user calls it"),
};
const times = {
  "enqueuedAt?": wall("when it claimed"),
  "grantedAt?": wall("when it was granted"),
};
const units = {
  "count?": count("units asked for; 1 on a lock"),
  "total?": count("units there are, as this run states it"),
};
const until = { "until?": wall("in `grace`: when the place is free") };
const reset = { "reset?": ref("reset") };

const drain = {
  scope: choice(DRAIN_SCOPES, "what it stops"),
  name: text("of the lock, resource, host or group; `all` in the scope `all`"),
  by: text("who drained it"),
  at: wall("since when; 0 where it does not say"),
  "why?": text("the reason that was given"),
  "until?": wall("when it ends by itself"),
  revision: revision("revision of etcd of its last change"),
};

export const ROWS: Readonly<Record<string, Schema>> = {
  lockOrResource: object("A lock or a resource.", {
    ...{ kind, name: text("its name") },
    state: choice(
      ["held", "waiting", "grace", "admitted", "drained", "resetting", "malformed", "free"],
      "`waiting`: nobody holds it, somebody is about to; `admitted`: a run has its turn, and waits for leases; `drained`: nobody holds it, nor may; `resetting`: its holder was asked to give it up; `malformed`: the first ticket cannot be read. What is drained while it is held is `held`: see `drains`",
    ),
    used: count("units that are held"),
    "total?": count("units there are: as configured, or as the first ticket states it; 1 for a lock"),
    "configured?": ref("configured"),
    holders: list("ticket", "who holds it, the oldest first"),
    waiters: list("ticket", "who waits, in order"),
    drains: list("drain", "of it, or of everything"),
  }),
  waiter: object("One that waits, in one queue.", {
    ...{ kind, name: text("of the lock or resource") },
    position: { type: "integer", minimum: 1, description: "from 1, over all tickets of the queue" },
    ...{ run: text("id of the run"), state: { ...state, enum: ["waiting", "admitted", "malformed"] } },
    ...{ ...said, ...units, ...times, ...until, ...reset },
    token: revision("`create_revision` of the ticket"),
    drains: list(
      "drain",
      "what stops it here: drains of the lock or resource, its host, its groups, everything",
    ),
  }),
  run: object("A run with all its tickets.", {
    run: text("its id"),
    state: { ...state, description: "of the ticket that is furthest from being held" },
    ...{ ...said, ...times, ...reset },
    token: revision(
      "fencing token: `create_revision` of the lock's ticket, without a lock that of the leases'",
    ),
    tickets: list("stand", "every queue it stands in; none where a worker runs it and it holds no leases"),
    "schedule?": text("id of the schedule, where a worker runs it"),
    "scheduled?": wall("nominal time of the schedule's occurrence"),
    drains: list("drain", "what stops it, where it waits"),
  }),
  host: object("A host that was seen, that has claimed something, or that a group names.", {
    host: text("full name, in small letters"),
    "seenAt?": wall(
      "when it last said that it is there, which it does every five minutes at most; missing: never",
    ),
    "cpu?": number("processors"),
    "memMb?": number("memory, MiB"),
    "macros?": {
      ...{ type: "object", description: "the host's own macros" },
      additionalProperties: { type: ["number", "string"] },
    },
    "version?": text("of signalbox there"),
    holds: count("runs there that hold all they asked for"),
    waits: count("runs there that wait"),
    groups: texts("groups it is in, also through others"),
    drains: list("drain", "of it, of its groups, of everything"),
  }),
  group: object("A group of hosts.", {
    group: text("its name"),
    members: texts("as operators wrote them: hosts and groups"),
    hosts: texts("all hosts, also through other groups"),
    live: count("how many of these were seen in the last hour"),
    "fault?": text("why its value cannot be read"),
    drains: list("drain", "of it, or of everything"),
  }),
  drainRow: object("A drain.", {
    ...drain,
    ended: { type: "boolean", description: "its time is over: it stops nothing any more" },
  }),
  schedule: object("A schedule. `signalbox show schedule` has more.", {
    schedule: text("its id"),
    state: choice(SCHEDULE_STATES, "the first of `states`"),
    states: texts(
      "all that holds of it. `due`: its next run may be taken; `late`: so it has been for ten seconds; `retrying`: what failed is tried again; `failed`: the last run failed and is not; `no-worker`: none has a handler for it; `ended`: it runs no more",
    ),
    "fault?": text("why its keys cannot be read"),
    task: text("its command, or the type that chooses the handler"),
    "next?": wall("when it may run next"),
    "nominal?": wall("the time that this stands for in the cron text: without delay, jitter, pause"),
    "definition?": { type: "object", description: "what operators keep, as `schedule export` has it" },
    open: list("open", "occurrences that were taken up or triggered, and have not ended"),
    "last?": ref("last"),
    dead: { type: "integer", description: "dead letters that are kept" },
    runs: list("execution", "who runs it now, the oldest first"),
  }),
  worker: object("A worker.", {
    worker: text("its id"),
    ...{ "host?": text("full name of its host"), "pid?": { type: "integer", description: "of its process" } },
    ...{ "version?": text("of signalbox there"), "since?": wall("when it began") },
    "wall?": wall("its clock when it last wrote"),
    "beat?": count("how often it has written"),
    "types?": texts(
      "types that it has handlers for, `/regular expressions/` among them; `$command`: commands",
    ),
    "tags?": texts("its tags"),
    ...{ running: count("tasks that it runs"), "concurrency?": count("tasks that it runs at most") },
    "clock?": choice(
      CLOCK_STATES,
      "`warns`: more than 0.5 s off; `refuses`: more than 5 s, it starts nothing",
    ),
    isLeaving: { type: "boolean", description: "it takes nothing more" },
    "fault?": text("why its word cannot be read"),
  }),
  pastRun: object("A run that has ended. A lock remembers its last 20.", {
    ...{ lock: text("the lock it held"), run: text("its id") },
    state: choice(
      ["ok", "failed", "killed", "ended"],
      "`ok`: exit 0; `killed`: by a signal; `ended`: signalbox ended it, see `reason`",
    ),
    ...{
      host: text("full name of the host it ran on"),
      pid: { type: "integer", description: "of its runner" },
    },
    ...{ command: text("base name of its command"), "label?": text("what the user called it") },
    token: revision("fencing token that it had"),
    ...{
      enqueuedAt: wall("when it claimed"),
      grantedAt: wall("when it was granted"),
      endedAt: wall("when it ended"),
    },
    ...{ waited: number("ms that it waited"), held: number("ms that it held the lock") },
    exit: { type: "integer", description: "exit code of the command; more than 128: 128 and the signal" },
    "reason?": text("why signalbox ended the command, where it did"),
  }),
  auditRecord: object("What an operator did.", {
    id: text("ids sort by time"),
    ...{ at: wall("when"), user: text("who"), host: text("where") },
    "sudoUser?": text("who became `user` by sudo"),
    action: choice(AUDIT_ACTIONS, "what was done"),
    target: text("to what: `lock invoices`, `host web1.example.com`, `all`"),
    seen: revision("revision of etcd that the operator saw"),
    "reason?": text("why, where that was said"),
    outcome: text("what became of it"),
  }),
  problem: object("Something that an operator should look at.", {
    kind: choice(
      [
        ...["malformed", "orphan", "totals", "too-large", "overdue", "long-hold", "long-wait"],
        ...["reset-unanswered", "clock", "drain-ended", "group", "host"],
        ...["late", "dead-letter", "no-worker"],
      ],
      "what it is",
    ),
    level: choice(["warning", "failure"], "`failure`: something does not work"),
    subject: text("what it is about: `lock invoices`"),
    detail: text("a sentence for people"),
    remedy: text("what to type, or what to look at"),
    "host?": text("the host it has to do with, where there is one"),
    "run?": text("the run, likewise"),
  }),
};

/** What rows are made of. */
export const PARTS: Readonly<Record<string, Schema>> = {
  ticket: object("A run in a queue.", {
    ...{ run: text("id of the run"), state, ...said, ...units, ...times, ...until, ...reset },
    token: revision("fencing token, where this is the lock's ticket: its `create_revision`"),
  }),
  open: object("An occurrence of a schedule that was taken up or triggered.", {
    ...{ scheduled: wall("its nominal time"), runAt: wall("when it may be started, unless it runs") },
    attempt: count("how often it was started"),
    failures: count("how often it failed"),
    kind: choice(["due", "trigger"], "`trigger`: an operator asked for it"),
  }),
  last: object("How the last occurrence that was started has ended.", {
    ...{ scheduled: wall("its nominal time"), startedAt: wall("when it was started") },
    ...{ endedAt: wall("when it ended"), late: number("ms that it was started late") },
    result: choice(RESULTS, "`released`, `retry`: its handler wished so; `lost`: with its worker"),
    run: text("id of the run"),
  }),
  execution: object(
    "An occurrence of a schedule that a worker runs; where its key cannot be read, all but the token is missing.",
    {
      ...{ "worker?": text("the worker's id"), "host?": text("its host") },
      "pid?": { type: "integer", description: "of the worker" },
      ...{ "run?": text("id of the run"), "scheduled?": wall("its nominal time") },
      ...{ "attempt?": count("for the how-manieth time"), "since?": wall("when it was started") },
      ...{ "late?": number("ms that it was started late"), "fault?": text("why its key cannot be read") },
      token: revision("fencing token: `create_revision` of its key"),
    },
  ),
  stand: object("A run's ticket, in short.", {
    ...{ kind, name: text("of the lock or resource"), state, "count?": count("units") },
  }),
  drain: object("Nothing new starts in its scope.", drain),
  reset: object("An operator asked a run to give up its claim.", {
    ...{ by: text("who asked"), at: wall("when"), "why?": text("the reason that was given") },
  }),
  configured: object("What operators keep about a resource.", {
    "total?": text("a number, or an expression over macros"),
    "order?": number("place in listings, the smallest first"),
    "note?": text("a word about it"),
  }),
};
