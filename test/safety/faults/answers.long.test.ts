/** The network loses the answer to a call that etcd has applied. The run detects it, and continues. */

import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  matchRenewal,
  matchSessionEnd,
  matchSessionGrant,
  matchText,
} from "../../../fixtures/cluster/request-patterns.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { type TestNamespace, TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { recordChanges, type TicketChange } from "../../../fixtures/cluster/ticket-changes.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { parsePastRuns } from "../../../src/core/protocol/history.ts";

const TTL = 7;
const cluster = TestCluster.startForFile();

/** What shows that etcd has applied a call, even when the run has gone on since: in some way, it does after a while. */
type Applied = (namespace: TestNamespace, changes: readonly TicketChange[]) => boolean | Promise<boolean>;

const isGranted: Applied = async (namespace, changes) =>
  changes.length > 0 || (await namespace.listNewSessions()).length > 0;
const isFreed: Applied = (_, changes) => own(changes, "held").some((key) => isGone(key, changes));
const buildHasBecome =
  (state: string, count = 1): Applied =>
  (_, changes) =>
    own(changes, state).length >= count;

/** The run's tickets that have ever been in a state. */
function own(changes: readonly TicketChange[], state: string) {
  const ours = changes.filter(({ ticket }) => ticket?.label === "run" && ticket.state === state);
  return [...new Set(ours.map(({ key }) => key))];
}

const isGone = (key: string, changes: readonly TicketChange[]) =>
  changes.some((change) => change.key === key && change.ticket === undefined);

interface Case {
  lost: string;
  options: readonly string[];
  /** Another run is ahead, and goes when the call is applied, or before it, when this one waits. */
  behind?: "until applied" | "until waiting";
  request: (transport: string) => RegExp;
  applied: Applied;
  /** Then, before the run can look again, its lock is drained: what is granted stays so. */
  isDrained?: true;
}

const LOCK = ["--lock", "x"];
const QUEUE = [...LOCK, "--wait"];
const LEASES = ["--lease", "a=1:1", "--lease", "b=2:3"];
const NO_LOCK = ["--no-lock", ...LEASES];
const buildStatePattern = (state: string) => () => matchText(`"state":"${state}"`);
const buildHistoryPattern = () => matchText('"endedAt"');

const CASES: readonly Case[] = [
  { lost: "the session", options: LOCK, request: (at) => matchSessionGrant(at, TTL), applied: isGranted },
  {
    lost: "a claim that is the grant",
    options: LOCK,
    request: buildStatePattern("held"),
    applied: buildHasBecome("held"),
  },
  {
    lost: "a claim that queues",
    options: QUEUE,
    behind: "until applied",
    request: buildStatePattern("waiting"),
    applied: buildHasBecome("waiting"),
  },
  {
    lost: "a claim of leases",
    options: NO_LOCK,
    request: buildStatePattern("waiting"),
    applied: buildHasBecome("waiting", 2),
  },
  {
    lost: "a claim of a lock and leases",
    options: [...LOCK, ...LEASES],
    request: buildStatePattern("admitted"),
    applied: buildHasBecome("waiting", 2),
  },
  {
    lost: "the join of leases after a wait",
    options: [...QUEUE, ...LEASES],
    behind: "until waiting",
    request: buildStatePattern("admitted"),
    applied: buildHasBecome("waiting", 3),
  },
  {
    lost: "a grant of leases",
    options: NO_LOCK,
    request: buildStatePattern("held"),
    applied: buildHasBecome("held", 2),
  },
  {
    lost: "a grant after a wait",
    options: QUEUE,
    behind: "until waiting",
    request: buildStatePattern("held"),
    applied: buildHasBecome("held"),
  },
  {
    lost: "a grant that a drain follows",
    options: LOCK,
    isDrained: true,
    request: buildStatePattern("held"),
    applied: buildHasBecome("held"),
  },
  {
    lost: "the mark of who waits elsewhere",
    options: NO_LOCK,
    behind: "until applied",
    request: buildStatePattern("admitted"),
    applied: buildHasBecome("admitted"),
  },
  { lost: "the finish", options: LOCK, request: buildHistoryPattern, applied: isFreed },
  {
    lost: "a finish without history",
    options: [...LOCK, "--no-history"],
    request: matchSessionEnd,
    applied: isFreed,
  },
];

describe.each(TRANSPORTS)("over %s, the lost answer to", (transport) => {
  it.each(CASES)("$lost", async ({ options, behind, request, applied, isDrained }) => {
    const namespace = await cluster.createTestNamespace(transport);
    const { jobs } = namespace;
    const interceptor = await namespace.interceptRequests();
    const changes = await recordChanges(namespace, namespace.keys.getFullRange());
    const gate = `${jobs.journal.folder}/gate`;
    const isLocking = options.includes("--lock");
    const ahead = isLocking ? LOCK : NO_LOCK.slice(0, 3);
    if (behind) await jobs.startAndWait("first", ahead, { hold: ["until", gate] });
    const early = behind !== "until waiting" && interceptor.interceptNext(request(transport), "answers");
    const times = ["--ttl", `${TTL}s`, "--termination-timeout", "1s"];
    const run = jobs.start("run", [...options, ...times], { endpoints: [interceptor.endpoint] });
    if (!early) await jobs.waitForTickets("run", "waiting");
    const answer = early || interceptor.interceptNext(request(transport), "answers");
    if (!early) writeFileSync(gate, "");
    const call = await answer;
    await waitUntil("the call is applied", () => applied(namespace, changes));
    const drain = namespace.keys.drain("lock", "x");
    if (isDrained) await namespace.etcd.runEtcdctl("put", drain, "{}");
    call.reset();
    writeFileSync(gate, "");
    expect(await run.ended).toExitSilently(0);
    await namespace.waitForProcesses();
    await namespace.etcd.runEtcdctl("del", drain);
    await expectNoGhosts(namespace);
    const ran = jobs.journal.listStarts().filter(({ name }) => name === "run");
    expect(ran, jobs.journal.formatTimeline()).toHaveLength(1);
    if (isLocking && !options.includes("--no-history")) await expectHistory(namespace, behind ? 2 : 1);
  });
});

describe.each(TRANSPORTS)("over %s", (transport) => {
  it("says nothing of a renewal whose proof is under way when the command ends", async () => {
    const namespace = await cluster.createTestNamespace(transport);
    const interceptor = await namespace.interceptRequests();
    const gate = `${namespace.jobs.journal.folder}/gate`;
    const [options, hold] = [
      [...LOCK, "--ttl", "9s", "--termination-timeout", "500ms"],
      ["until", gate],
    ];
    const renewed = interceptor.interceptNext(matchRenewal(transport), "answers");
    const run = namespace.jobs.start("run", options, { hold, endpoints: [interceptor.endpoint] });
    const answer = await renewed;
    const proving = interceptor.interceptNext(/[\s\S]/, "answers");
    answer.release();
    await proving;
    writeFileSync(gate, "");
    expect(await run.ended).toExitSilently(0);
    await expectNoGhosts(namespace);
  });
});

/** Nothing stays behind, and who comes next need not wait. */
async function expectNoGhosts(namespace: TestNamespace) {
  expect(await namespace.listLeftovers()).toEqual([]);
  const next = namespace.jobs.start("next", [...LOCK, ...LEASES, "--lease-timeout", "5s"]);
  expect(await next.ended).toExit(0);
}

/** @param runs  how many, beside the one that came after to look for ghosts */
async function expectHistory(namespace: TestNamespace, runs: number) {
  const { kvs } = await namespace.store.readRange({ key: namespace.keys.history("x") });
  const [, last, ...before] = parsePastRuns(kvs[0]?.value);
  const started = namespace.jobs.journal.findLine("run", "start");
  expect(last).toMatchObject({ label: "run", exit: 0, token: String(started?.token) });
  expect(before).toHaveLength(runs - 1);
}
