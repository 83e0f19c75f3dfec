/** `signalbox ls --watch`, on a terminal and on a pipe. */

import { execFileSync } from "node:child_process";
import { readlinkSync } from "node:fs";
import { describe, expect } from "vitest";
import { findInnermostProcess, putTickets, TERMINAL } from "../../../fixtures/cluster/sample-queues.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { createTicket } from "../../../fixtures/protocol/samples.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { serializeDrain } from "../../../src/core/protocol/drain.ts";
import { serializeTicket } from "../../../src/core/protocol/ticket.ts";

const { test } = TestCluster.startForFile();

describe.concurrent("ls --watch", () => {
  test("tells a pipe every row, then what changes, and that etcd was away", async ({ namespace }) => {
    await putTickets(namespace, 2, 1);
    const proxy = await namespace.startProxy();
    const watch = namespace.start("ls locks --watch", { endpoints: [proxy.url] });
    await watch.waitForOutput('"event":"ready"');
    const key = namespace.keys.lock("lock 0", "0".repeat(16));
    await namespace.delete(key);
    await watch.waitForOutput('"name":"lock 0","state":"waiting"');
    proxy.mode = "refuse";
    proxy.reset();
    await watch.waitForOutput('"event":"away"');
    const gone = { op: "delete" as const, ...namespace.keys.getQueueRange("lock", "lock 1") };
    await namespace.write(gone);
    proxy.mode = "forward";
    await watch.waitForOutput('"event":"back"');
    await watch.waitForOutput(/"event":"gone".*"key":"lock\/lock 1"/);
    expect(await watch.end()).toExit(143);
    for (const line of watch.output.stdout.trimEnd().split("\n")) expect(JSON.parse(line).version).toBe(1);
  });

  test("repaints a terminal in place, and leaves it as it was", async ({ namespace }) => {
    const watch = namespace.start("ls locks --watch", TERMINAL);
    await watch.waitForOutput(/\x1b\[\?1049h[\s\S]*No lock is held/);
    await putTickets(namespace, 40, 0);
    await watch.waitForOutput("and 20 more");
    watch.child.stdin?.write("\x03");
    const end = await watch.ended;
    expect(end).toExit(130, { stdout: /\x1b\[\?25h\x1b\[\?1049l\s*$/ });
    expect(end.stdout).not.toContain("\x1b[2J");
  });

  test("writes to a terminal only what changed", async ({ namespace }) => {
    await putTickets(namespace, 12, 0);
    const watch = namespace.start("ls locks --watch --columns name,holder", TERMINAL);
    await watch.waitForOutput("lock 11");
    const before = watch.output.stdout.length;
    const key = namespace.keys.lock("lock 5", "5".padStart(16, "0"));
    const value = serializeTicket(createTicket({ state: "held", host: "zulu7.example.com" }));
    await namespace.put(key, value);
    await watch.waitForOutput("zulu7");
    expect(watch.output.stdout.slice(before), "no other rows").not.toMatch(/lock (?!5 )/);
  });

  test("says on a terminal that etcd is away, keeps the last picture, and leaves the screen when it is ended", async ({
    namespace,
  }) => {
    await putTickets(namespace, 2, 0);
    const proxy = await namespace.startProxy();
    const watch = namespace.start("ls locks --watch", { ...TERMINAL, endpoints: [proxy.url] });
    await watch.waitForOutput(/live[\s\S]*lock 1/);
    proxy.mode = "refuse";
    proxy.reset();
    await watch.waitForOutput(
      /etcd unreachable since \d\d:\d\d:\d\dZ \(\d+s\) {2}last known: locks 2, revision \d+/,
    );
    proxy.mode = "forward";
    const away = watch.output.stdout.length;
    await waitUntil("it is live again", () => watch.output.stdout.slice(away).includes("live"));
    const screen = watch.output.stdout.slice(away);
    expect(screen).not.toContain("No lock");
    process.kill(findInnermostProcess(watch.pid), "SIGTERM");
    expect(await watch.ended).toExit(143, { stdout: /\x1b\[\?25h\x1b\[\?1049l\s*$/ });
  });

  test("lets nobody's words act on the terminal", async ({ namespace }) => {
    const evil = "a\x1b]52;c;eA==\x07\x9b2J\u202e\nb";
    const ticket = createTicket({ state: "held", host: evil, command: evil, label: evil, user: evil });
    const put = (key: string, value: string) => ({ op: "put" as const, key, value });
    await namespace.write(
      put(namespace.keys.lock("x", ticket.run), serializeTicket(ticket)),
      put(namespace.keys.drain("host", "h"), serializeDrain({ by: evil, at: 1, why: evil })),
    );
    for (const view of ["overview", "queues", "runs", "problems", "drains"]) {
      const watch = namespace.start(["ls", view, "--watch"], { terminal: { columns: 200, rows: 24 } });
      await watch.waitForOutput("live");
      watch.child.stdin?.write("\x03");
      const { stdout } = await watch.ended;
      // Sequences of our own: screens, cursor, line breaks, whole frames, colours, erasing cells, lines and the screen, moving rows.
      const rest = stdout.replaceAll(/\x1b\[(\?(1049|25|7|2026)[hl]|[\d;]*[HmKJBCXrLM])/g, "");
      expect({
        view,
        acts: /[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]/.test(rest.replace("^C", "")),
      }).toEqual({
        view,
        acts: false,
      });
    }
  });

  test("follows a terminal whose size changes", async ({ namespace }) => {
    await putTickets(namespace, 40, 0);
    const watch = namespace.start("ls locks --watch", TERMINAL);
    await watch.waitForOutput("and 20 more");
    const terminal = readlinkSync(`/proc/${findInnermostProcess(watch.pid)}/fd/1`);
    execFileSync("stty", ["-F", terminal, "cols", "40", "rows", "12"]);
    await watch.waitForOutput("and 32 more");
    watch.child.stdin?.write("\x03");
    expect(await watch.ended).toExit(130);
  });

  test("ends when nobody reads any more", async ({ namespace }) => {
    const watch = namespace.start("ls --watch");
    await watch.waitForOutput('"event":"ready"');
    watch.child.stdout?.destroy();
    await putTickets(namespace, 1, 0);
    expect(await watch.ended).toExit(0);
  });
});
