/** JSON Schemas for the rows of `signalbox ls --json` and their parts. */

import { AUDIT_ACTIONS } from "../../src/protocol/audit.ts";
import { DRAIN_SCOPES } from "../../src/protocol/keys.ts";
import { OCCURRENCE_RESULTS } from "../../src/schedule/state/outcome.ts";
import { CLOCK_STATES } from "../../src/schedule/state/worker-record.ts";
import { SCHEDULE_STATES } from "../../src/views/schedules.ts";
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

const kind = createChoiceSchema(["lock", "resource"], "kind of queue");
const ADMITTED = "`admitted`: it could hold this queue, but waits in another queue";
const GRACE = "`grace`: its command has ended, and the ticket keeps its position";
const MALFORMED = "`malformed`: the ticket cannot be read, so most fields are missing";
const state = createChoiceSchema(
  ["waiting", "admitted", "held", "grace", "malformed"],
  `state of the ticket. ${ADMITTED}; ${GRACE}; ${MALFORMED}`,
);

/** Fields from the ticket. All are missing if the ticket cannot be read. */
const ticketFields = {
  "host?": createTextSchema("full name of the run's host"),
  "pid?": { type: "integer", description: "process id of the runner" },
  "user?": createTextSchema("user who started the run"),
  "command?": createTextSchema("base name of the command"),
  "args?": createTextsSchema("arguments of the command, if the run records them"),
  "label?": createTextSchema("label from `--label`"),
};
const times = {
  "enqueuedAt?": createWallSchema("time of the claim"),
  "grantedAt?": createWallSchema("time of the grant"),
};
const units = {
  "count?": createCountSchema("units requested; 1 for a lock"),
  "total?": createCountSchema("total units, as computed by this run; 1 for a lock"),
};
const until = { "until?": createWallSchema("end of the `grace` state") };
const reset = { "reset?": createRefSchema("reset") };

const drain = {
  scope: createChoiceSchema(DRAIN_SCOPES, "kind of object that is drained"),
  name: createTextSchema("name of the lock, resource, host or group; `all` in the scope `all`"),
  by: createTextSchema("user who created the drain"),
  at: createWallSchema("time of creation; 0 if unknown"),
  "why?": createTextSchema("reason from the operator"),
  "until?": createWallSchema("time at which the drain ends automatically"),
  revision: createRevisionSchema("etcd revision of the last change of the drain"),
};

export const ROWS: Readonly<Record<string, JsonSchema>> = {
  lockOrResource: createObjectSchema("A lock or a resource.", {
    kind,
    name: createTextSchema("name of the lock or resource"),
    state: createChoiceSchema(
      ["held", "waiting", "grace", "admitted", "drained", "resetting", "malformed", "free"],
      "state of the queue. `waiting`: no run holds it, and one is about to be granted; `admitted`: no run holds it, and the first one waits for its leases; `drained`: no run holds it, and none can be granted; `resetting`: a holder was asked to give it up; `grace`: the commands of all holders have ended; `malformed`: the first ticket cannot be read. A queue that is drained while it is held is `held`; see `drains`",
    ),
    used: createCountSchema("units held"),
    "total?": createCountSchema(
      "total units: from the configuration, or else from the first readable ticket; 1 for a lock",
    ),
    "configured?": createRefSchema("configured"),
    holders: createListSchema("ticket", "tickets of the holders, oldest first"),
    waiters: createListSchema("ticket", "tickets of the waiters, in queue order"),
    drains: createListSchema("drain", "drains of this lock or resource, and of everything"),
  }),
  waiter: createObjectSchema("A waiting run in one queue.", {
    kind,
    name: createTextSchema("name of the lock or resource"),
    position: {
      type: "integer",
      minimum: 1,
      description: "position in the queue, from 1; tickets of holders count",
    },
    run: createTextSchema("id of the run"),
    state: createChoiceSchema(
      ["waiting", "admitted", "malformed"],
      `state of the ticket. ${ADMITTED}; ${MALFORMED}`,
    ),
    ...ticketFields,
    ...units,
    ...times,
    ...until,
    ...reset,
    token: createRevisionSchema("`create_revision` of the ticket"),
    drains: createListSchema(
      "drain",
      "drains that block it here: of the lock or resource, its host, its groups, or everything",
    ),
  }),
  run: createObjectSchema("A run and all its tickets.", {
    run: createTextSchema("id of the run"),
    state: { ...state, description: "state of the ticket that is furthest from being held" },
    ...ticketFields,
    ...times,
    ...reset,
    token: createRevisionSchema(
      "fencing token: `create_revision` of the lock ticket, or without a lock of the first lease ticket; for a task without leases, of its running key",
    ),
    tickets: createListSchema(
      "stand",
      "tickets of the run; empty for a task of a worker that holds no leases",
    ),
    "schedule?": createTextSchema("id of the schedule, if a worker runs it"),
    "scheduled?": createWallSchema("nominal time of the occurrence, if a worker runs it"),
    drains: createListSchema("drain", "drains that block the run, if it waits"),
  }),
  host: createObjectSchema("A host with a record, with a claim, or in a group.", {
    host: createTextSchema("full name, in lower case"),
    "seenAt?": createWallSchema(
      "time when the host last wrote its record, rounded down to five minutes; a host writes the record with a claim; missing if the host never wrote one",
    ),
    "cpu?": createNumberSchema("number of processors"),
    "memMb?": createNumberSchema("memory, MiB"),
    "macros?": {
      type: "object",
      description: "macros from the host's settings",
      additionalProperties: { type: ["number", "string"] },
    },
    "version?": createTextSchema("version of signalbox on the host"),
    holds: createCountSchema("number of runs on the host that hold everything they claim"),
    waits: createCountSchema("number of runs on the host that wait"),
    groups: createTextsSchema("groups that contain the host, directly or through other groups"),
    drains: createListSchema("drain", "drains of the host, of its groups, and of everything"),
    agents: createListSchema("agent", "agents that have a session there"),
  }),
  group: createObjectSchema("A group of hosts.", {
    group: createTextSchema("name of the group"),
    members: createTextsSchema("members as configured: hosts and groups"),
    hosts: createTextsSchema("all hosts of the group, directly or through other groups"),
    live: createCountSchema("number of `hosts` seen in the last hour: with a record at most 65 minutes old"),
    "fault?": createTextSchema("why the group cannot be read"),
    drains: createListSchema("drain", "drains of the group, and of everything"),
  }),
  drainRow: createObjectSchema("A drain.", {
    ...drain,
    ended: { type: "boolean", description: "whether `until` has passed, so that the drain has no effect" },
  }),
  schedule: createObjectSchema("A schedule. `signalbox show schedule` prints more.", {
    schedule: createTextSchema("id of the schedule"),
    state: createChoiceSchema(SCHEDULE_STATES, "first element of `states`"),
    states: createTextsSchema(
      "all states that apply. `due`: a worker may start the next run; `late`: the run has been due for ten seconds; `retrying`: a failed run is retried; `failed`: the last run failed and is not retried; `no-worker`: no worker has a handler for it; `ended`: no further run is planned",
    ),
    "fault?": createTextSchema("which key of the schedule is missing or cannot be read, and why"),
    task: createTextSchema("command, or the type that selects the handler"),
    "next?": createWallSchema("earliest start of the next run"),
    "nominal?": createWallSchema(
      "nominal time of the next occurrence in the cron expression: without delay, jitter and pause",
    ),
    "definition?": { type: "object", description: "definition, as in `schedule export`" },
    open: createListSchema("open", "occurrences that were started or triggered, and have not finished"),
    "last?": createRefSchema("last"),
    dead: { type: "integer", description: "number of stored dead letters" },
    runs: createListSchema("execution", "current executions, oldest first"),
  }),
  worker: createObjectSchema("A worker.", {
    worker: createTextSchema("id of the worker"),
    "host?": createTextSchema("full name of the worker's host"),
    "pid?": { type: "integer", description: "process id of the worker" },
    "version?": createTextSchema("version of signalbox"),
    "since?": createWallSchema("start of the worker"),
    "wall?": createWallSchema("the worker's clock when it last wrote its record"),
    "beat?": createCountSchema("number of the record, from 1"),
    "types?": createTextsSchema(
      "types with a handler: names and `/regular expressions/`; `$command` stands for commands",
    ),
    "tags?": createTextsSchema("tags of the worker"),
    running: createCountSchema("number of running tasks"),
    "concurrency?": createCountSchema("maximum number of running tasks"),
    "clock?": createChoiceSchema(
      CLOCK_STATES,
      "state of the worker's clock. `warns`: more than 0.5 s off; `refuses`: more than 5 s off, so the worker starts nothing",
    ),
    isLeaving: { type: "boolean", description: "whether the worker is leaving and starts nothing more" },
    "fault?": createTextSchema("why its record cannot be read"),
  }),
  pastRun: createObjectSchema("A run that has ended. The history of a lock has its last 20 runs.", {
    lock: createTextSchema("name of the lock"),
    run: createTextSchema("id of the run"),
    state: createChoiceSchema(
      ["ok", "failed", "killed", "ended"],
      "result of the run. `ok`: exit code 0; `killed`: exit code above 128, by a signal; `ended`: signalbox ended the command, see `reason`",
    ),
    host: createTextSchema("full name of the run's host"),
    pid: { type: "integer", description: "process id of the runner" },
    command: createTextSchema("base name of the command"),
    "label?": createTextSchema("label from `--label`"),
    token: createRevisionSchema("fencing token"),
    enqueuedAt: createWallSchema("time of the claim"),
    grantedAt: createWallSchema("time of the grant"),
    endedAt: createWallSchema("time of the end"),
    waited: createNumberSchema("duration of the wait, ms"),
    held: createNumberSchema("duration of the hold, ms"),
    exit: {
      type: "integer",
      description: "exit code of the command; 128 plus the signal number if a signal killed it",
    },
    "reason?": createTextSchema("why signalbox ended the command, if it did"),
  }),
  auditRecord: createObjectSchema("An action of an operator.", {
    id: createTextSchema("id of the record; ids sort by time"),
    at: createWallSchema("time of the action"),
    user: createTextSchema("user who acted"),
    host: createTextSchema("host on which the user acted"),
    "sudoUser?": createTextSchema("user who called sudo to become `user`"),
    action: createChoiceSchema(AUDIT_ACTIONS, "action"),
    target: createTextSchema(
      "target of the action, such as `lock invoices`, `host web1.example.com` or `all`",
    ),
    seen: createRevisionSchema("etcd revision of the data that the operator saw"),
    "reason?": createTextSchema("reason from the operator"),
    outcome: createTextSchema("outcome, as text for people"),
  }),
  problem: createObjectSchema("A problem that an operator should look at.", {
    kind: createChoiceSchema(
      [
        "malformed",
        "orphan",
        "vanished",
        "totals",
        "too-large",
        "overdue",
        "long-hold",
        "long-wait",
        "reset-unanswered",
        "clock",
        "drain-ended",
        "group",
        "host",
        "late",
        "postponed",
        "dead-letter",
        "no-worker",
      ],
      "kind of problem",
    ),
    level: createChoiceSchema(["warning", "failure"], "severity. `failure`: something does not work"),
    subject: createTextSchema("affected object, such as `lock invoices`"),
    detail: createTextSchema("description for people"),
    remedy: createTextSchema("command to run, or what to check"),
    "host?": createTextSchema("affected host, if there is one"),
    "run?": createTextSchema("affected run, if there is one"),
  }),
};

/** Schemas that rows refer to. */
export const PARTS: Readonly<Record<string, JsonSchema>> = {
  ticket: createObjectSchema("A run's ticket in a queue.", {
    run: createTextSchema("id of the run"),
    state,
    ...ticketFields,
    ...units,
    ...times,
    ...until,
    ...reset,
    token: createRevisionSchema("`create_revision` of the ticket; on the lock ticket, the fencing token"),
  }),
  open: createObjectSchema(
    "An occurrence of a schedule that was started or triggered, and has not finished.",
    {
      scheduled: createWallSchema("nominal time of the occurrence"),
      runAt: createWallSchema("earliest start, unless it is running"),
      attempt: createCountSchema("number of starts"),
      failures: createCountSchema("number of failures"),
      kind: createChoiceSchema(["due", "trigger"], "origin. `trigger`: an operator triggered it"),
    },
  ),
  last: createObjectSchema("Result of the occurrence that ended last.", {
    scheduled: createWallSchema("nominal time of the occurrence"),
    startedAt: createWallSchema("time of the start"),
    endedAt: createWallSchema("time of the end"),
    late: createNumberSchema("delay of the start, ms"),
    result: createChoiceSchema(
      OCCURRENCE_RESULTS,
      "result. `retry`: the handler requested another start later; `released`: the occurrence was given back; `lost`: its worker had to end it, or vanished; `replaced`: the next occurrence was due; `skipped`: it was never started",
    ),
    run: createTextSchema("id of the run"),
  }),
  execution: createObjectSchema(
    "A running occurrence of a schedule. If its key cannot be read, it has only `fault` and `token`.",
    {
      "worker?": createTextSchema("id of the worker"),
      "host?": createTextSchema("full name of the worker's host"),
      "pid?": { type: "integer", description: "process id of the worker" },
      "run?": createTextSchema("id of the run"),
      "scheduled?": createWallSchema("nominal time"),
      "attempt?": createCountSchema("attempt number, from 1"),
      "since?": createWallSchema("time of the start"),
      "late?": createNumberSchema("delay of the start, ms"),
      "fault?": createTextSchema("why the running key cannot be read"),
      token: createRevisionSchema("fencing token: `create_revision` of the running key"),
    },
  ),
  agent: createObjectSchema("An agent on a host. Fields that it has not reported yet are missing.", {
    agent: createTextSchema("id of the agent; each start of an agent has its own"),
    "user?": createTextSchema("user that the agent runs as"),
    pid: { type: "integer", description: "process id of the agent" },
    version: createTextSchema("version of signalbox"),
    holds: createCountSchema("number of runs of the agent that hold everything they claim"),
    waits: createCountSchema("number of runs of the agent that wait"),
    "since?": createWallSchema("start of the agent"),
    "served?": createCountSchema("number of calls that it has served to their end"),
    "declined?": {
      type: "object",
      description: "number of calls that it has declined, by reason; see docs/agent.md",
      additionalProperties: { type: "integer" },
    },
  }),
  stand: createObjectSchema("A run's ticket, in brief.", {
    kind,
    name: createTextSchema("name of the lock or resource"),
    state,
    "count?": createCountSchema("units requested; 1 for a lock"),
  }),
  drain: createObjectSchema("An operator's order that nothing new is granted in a scope.", drain),
  reset: createObjectSchema("An operator's request that a run give up its claim.", {
    by: createTextSchema("user who made the request"),
    at: createWallSchema("time of the request"),
    "why?": createTextSchema("reason from the operator"),
  }),
  configured: createObjectSchema("Configuration of a resource.", {
    "total?": createTextSchema("total units: a number, or an expression with macros"),
    "order?": createNumberSchema("sort key in listings, smallest first"),
    "note?": createTextSchema("note"),
  }),
};
