/** An agent that is replaced by one of another version, under many jobs. */
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { HostAgent } from "../../../fixtures/cluster/host-agent.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();

/** Jobs that run, and as many that wait for their locks. */
const JOBS = 100;
/** Tells when it starts and ends, and its claim; ends when the file is there. */
const SCRIPT =
  'echo "start $1 $SIGNALBOX_TOKEN" >>"$2"; until [ -e "$3" ]; do sleep 0.5; done; echo "end $1" >>"$2"';

const listPlaces = async (host: HostAgent) =>
  (await host.namespace.listTickets()).map(({ run, createRevision }) => `${run} ${createRevision}`);

test.each(["SIGTERM", "SIGKILL"] as const)(
  "100 jobs run and 100 wait: after %s and an upgrade none has ended, and none has lost its place",
  async (signal) => {
    const host = await HostAgent.start(cluster);
    const { namespace } = host;
    const [journal, go] = [cluster.createPath(""), cluster.createPath()];
    const startAll = (name: string, options: readonly string[]) =>
      Array.from({ length: JOBS }, (_, at) =>
        namespace.startRun(
          ["--lock", `x${at}`, ...options],
          ["sh", "-c", SCRIPT, "sh", `${name}${at}`, journal, go],
        ),
      );
    const countTickets = async (state: string) =>
      (await namespace.listTickets()).filter(({ ticket }) => ticket?.state === state).length;
    const first = startAll("first", []);
    await waitUntil("all jobs", async () => (await countTickets("held")) === JOBS);
    const second = startAll("second", ["--wait"]);
    await waitUntil("all waiters", async () => (await countTickets("waiting")) === JOBS);
    const before = await listPlaces(host);
    await host.end(signal);
    await host.start({ bundle: host.createOtherVersion("9.9.9") });
    const { pid } = host.process;
    await waitUntil("the sessions of the new agent", async () => {
      const all = await namespace.listSharedSessions();
      return (await namespace.listTickets()).every(({ session }) =>
        all.some((one) => one.id === session && one.pid === pid),
      );
    });
    expect(await listPlaces(host)).toEqual(before);
    writeFileSync(go, "");
    const ends = await Promise.all([...first, ...second].map(({ ended }) => ended));
    expect(ends.filter(({ code, stderr }) => code !== 0 || stderr !== "")).toEqual([]);
    const lines = readFileSync(journal, "utf8").split("\n");
    for (let at = 0; at < JOBS; at++) {
      const own = lines.filter((line) => new RegExp(`^\\w+ (first|second)${at}\\b`).test(line));
      expect(own.map((line) => line.split(" ", 2).join(" "))).toEqual([
        `start first${at}`,
        `end first${at}`,
        `start second${at}`,
        `end second${at}`,
      ]);
    }
    expect(await namespace.listTickets()).toEqual([]);
  },
);
