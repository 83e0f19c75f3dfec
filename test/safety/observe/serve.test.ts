/** `signalbox serve` on a real etcd: metrics, pages, JSON, checks, changes. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { holdLock, putTickets, startSampleQueues } from "../../../fixtures/cluster/sample-queues.ts";
import { putSampleSchedules, putSamples } from "../../../fixtures/cluster/sample-site.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { askPage, followPage, startPage } from "../../../fixtures/page.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { LISTINGS } from "../../../src/cli/commands/see/ls/ls.ts";
import { serializeDrain } from "../../../src/core/protocol/drain.ts";

const { test } = TestCluster.startForFile();

/** Asks for a path until the answer has a line. */
async function waitForText(url: string, path: string, line: RegExp) {
  return await waitUntil(`${path} has ${line}`, async () => {
    const { text } = await askPage(url, path);
    return line.test(text) && text;
  });
}

describe.concurrent("signalbox serve", () => {
  test("serves metrics of what there is to see, as it changes, and ends by TERM without a fault", async ({
    namespace,
  }) => {
    await putTickets(namespace, 3, 2);
    const page = namespace.start("serve --listen 0");
    await page.waitForOutput(/metrics on 127\.0\.0\.1:\d+\n/);
    const [, address] = /metrics on (\S+)\n/.exec(page.output.stderr) ?? [];
    const url = `http://${address}`;
    const before = await waitForText(url, "/metrics", /^signalbox_up 1$/m);
    expect(before).toMatch(/^signalbox_holders\{kind="lock"\} 3$/m);
    expect(before).toMatch(/^signalbox_drains\{scope="lock"\} 0$/m);
    expect(before).toMatch(/^process_resident_memory_bytes \d+$/m);
    const gauges = [...before.matchAll(/^# TYPE (\S+) gauge$/gm)].map(([, name]) => name);
    expect(gauges.filter((name) => name?.endsWith("_total"))).toEqual([]); // as `promtool check metrics` demands
    const key = namespace.keys.drain("lock", "x");
    const value = serializeDrain({ by: "op", at: Date.now() });
    await namespace.put(key, value);
    const after = await waitForText(url, "/metrics", /^signalbox_drains\{scope="lock"\} 1$/m);
    const bytes = Buffer.byteLength(key) + Buffer.byteLength(value);
    expect(after).toMatch(
      new RegExp(`^signalbox_written_bytes_total\\{collection="drains"\\} ${bytes}$`, "m"),
    );
    expect(await waitForText(url, "/healthz", /./)).toBe("ok\n");
    expect(await page.end()).toExit(0, { stdout: "" });
  });

  test("tells of each lock when it last succeeded, and how its last run ended", async ({ namespace }) => {
    const since = Date.now() / 1_000;
    for (const code of [0, 3])
      await namespace.execute(["run", "--lock", "x", "--", "sh", "-c", `exit ${code}`]);
    const url = await startPage(namespace);
    const text = await waitForText(url, "/metrics", /^signalbox_lock_last_exit_code\{lock="x"\} 3$/m);
    const read = (name: string) =>
      Number(new RegExp(`^signalbox_lock_last_${name}\\{lock="x"\\} (\\S+)$`, "m").exec(text)?.[1]);
    const [success, end, now] = [
      read("success_timestamp_seconds"),
      read("end_timestamp_seconds"),
      Date.now() / 1_000,
    ];
    expect([since <= success, success <= end, end <= now]).toEqual([true, true, true]);
    expect(read("duration_seconds")).toBeGreaterThanOrEqual(0);
  });

  test("says that etcd is away, and comes back; also where it was away at the start", async ({
    namespace,
    onTestFinished,
  }) => {
    await putTickets(namespace, 1, 0);
    const proxy = await namespace.startProxy();
    const url = await startPage(namespace, [], { endpoints: [proxy.url] });
    const changes = followPage(url, "/locks", onTestFinished);
    await waitUntil("connected", () => changes.text.includes('"rows"'));
    proxy.mode = "refuse";
    proxy.reset();
    const away = await waitForText(url, "/metrics", /^signalbox_up 0$/m);
    expect(away).not.toContain("signalbox_holders");
    expect(await waitForText(url, "/healthz", /./)).toBe("etcd is unreachable\n");
    expect(await waitForText(url, "/locks", /etcd is unreachable since [\d-]+ [\d:]+Z/)).toContain("lock 0");
    expect(await waitForText(url, "/lock/lock%200", /unreachable since/)).toContain("lock lock 0: held");
    for (const path of ["/check", "/check/lock/x"])
      expect(await askPage(url, path)).toMatchObject({ status: 503, text: /etcd is unreachable/ });
    await waitUntil("the viewer knows", () => changes.text.includes("etcd is unreachable since"));
    const late = namespace.start("serve --listen 0 --connect-timeout 200ms", { endpoints: [proxy.url] });
    await late.waitForOutput(/metrics on \S+\n/);
    const lateUrl = `http://${/metrics on (\S+)\n/.exec(late.output.stderr)?.[1]}`;
    await waitForText(lateUrl, "/metrics", /^signalbox_up 0$/m);
    expect((await askPage(lateUrl, "/locks")).status).toBe(503);
    proxy.mode = "forward";
    await waitForText(url, "/metrics", /^signalbox_holders\{kind="lock"\} 1$/m);
    await waitForText(lateUrl, "/locks", /lock 0/);
    await waitUntil(
      "the viewer knows",
      () => changes.text.lastIndexOf("etcd is unreachable since") < changes.text.lastIndexOf('"alarm":""}'),
    );
  });

  test("refuses a port that is taken, and an invalid address", async ({ namespace }) => {
    const { host } = new URL(await startPage(namespace));
    const second = await namespace.start(["serve", "--listen", host]).ended;
    expect(second).toExit(78, { stderr: `${host} is taken` });
    const third = await namespace.start("serve --listen web1").ended;
    expect(third).toExit(64, { stderr: '"web1" is not an address' });
  });

  test("answers JSON as ls and show print it, at the same addresses", async ({ namespace }) => {
    await putSamples(namespace);
    await putSampleSchedules(namespace);
    const url = await startPage(namespace, ["--show-output"]);
    const readPage = async (path: string) => (await askPage(url, path)).text;
    const pairs: (readonly [path: string, words: string])[] = [
      ...LISTINGS.filter((id) => id !== "overview").map((id) => [`/${id}.json`, `ls ${id} --json`] as const),
      ["/locks.json?all=1", "ls locks --all --json"],
      ["/queues.json?sort=-waits&limit=1", "ls queues --sort -waits --limit 1 --json"],
      ["/history.json?filter=state:failed", "ls history state:failed --json"],
      ["/lock/x.json", "show lock x --json"],
      ["/lock/no%20body.json", "show lock no_body --json"],
      ["/resource/db.json", "show resource db --json"],
      ["/group/web.json", "show group web --json"],
      ["/host/web1.example.com.json", "show host web1.example.com --json"],
      ["/schedule/split.json", "show schedule split --json"],
    ];
    for (const [path, words] of pairs) {
      const args = words.split(" ").map((word) => word.replace("_", " "));
      // What depends on the time is the same if nothing changes between the two.
      let both: string[] = [];
      const compare = async () => {
        both = [await namespace.expectDone(...args), await readPage(path)].map(dropTimes);
        return both[0] === both[1];
      };
      await waitUntil(`${path} is ${words}`, compare, { ms: 30_000, describe: () => both.join("\n") });
    }
    const accepted = await askPage(url, "/drains", { headers: { accept: "application/json" } });
    expect(accepted.text).toBe(await readPage("/drains.json"));
    expect(Object.keys(JSON.parse(await readPage("/overview.json")))).toEqual(
      Object.keys(JSON.parse(await namespace.expectDone("overview", "--json"))),
    );
  });

  test("shows on the overview what runs wait for while others hold it", async ({ namespace }) => {
    await startSampleQueues(namespace);
    const { text } = await askPage(await startPage(namespace), "/");
    expect(text).toMatch(/<section id="locks">.*\/lock\/x".*<section id="resources">.*\/resource\/db"/s);
    expect(text).not.toMatch(/at most \d+\.|, \d+\.\d+ last/);
  });

  test("has no output of runs, unless it is asked to show it", async ({ namespace }) => {
    await namespace.execute(["run", "--lock", "x", "--", "sh", "-c", "echo password: hunter2; exit 1"]);
    await namespace.execute(["run", "--lock", "x", "--keep-output", "--", "true"]);
    await putSamples(namespace);
    const [quiet, open] = [await startPage(namespace), await startPage(namespace, ["--show-output"])];
    const paths = ["/lock/past", "/lock/past.json", "/history.json"];
    const read = (url: string) => Promise.all(paths.map(async (path) => (await askPage(url, path)).text));
    expect((await read(open)).every((text) => text.includes("no room"))).toBe(true);
    expect((await read(quiet)).some((text) => text.includes("no room"))).toBe(false);
  });

  test("answers uptime monitors with 200 or 503 and the text of check, and draws badges", async ({
    namespace,
  }) => {
    await namespace.execute("run --lock good -- true");
    await namespace.execute("run --lock bad -- false");
    const url = await startPage(namespace);
    const dropAge = (text: string) => text.replaceAll(/\d+m?s/g, "");
    for (const [lock, status, word] of [
      ["good", 200, "ok"],
      ["bad", 503, "overdue"],
    ] as const) {
      const printed = await namespace.execute(["check", "lock", lock]);
      const answer = await askPage(url, `/check/lock/${lock}`);
      expect(answer.status).toBe(status);
      expect(dropAge(answer.text)).toBe(dropAge(printed.stdout));
      expect((await askPage(url, `/badge/lock/${lock}.svg`)).text).toContain(`${lock}: ${word}`);
    }
    const whole = await askPage(url, "/check");
    expect(whole.status).toBe(503);
    await namespace.expectDone("schedule", "add", "nightly", "0 3 * * *", "--", "true");
    const printed = await Promise.all(
      ["schedule", "lock"].map((kind) => namespace.execute(["check", kind, "--all"])),
    );
    const findings = printed.flatMap(({ stdout }) => stdout.trimEnd().split("\n").slice(0, -1));
    const all = await waitForText(url, "/check", /nightly/);
    expect(dropAge(all).trimEnd().split("\n").slice(0, -1)).toEqual(findings.map(dropAge));
    expect(all.trimEnd().split("\n").at(-1)).toBe("1 failure");
    expect((await askPage(url, "/check?tag=none")).text).toBe(
      "FAILURE: there is no schedule, and no lock with a history\n",
    );
    expect((await askPage(url, "/check/schedule/none")).text).toMatch(/FAILURE: there is no schedule "none"/);
    expect((await askPage(url, "/badge/schedule/none.svg")).text).toContain("none: unknown");
    expect((await askPage(url, "/check/lock/good?within=nonsense")).status).toBe(400);
    expect((await askPage(url, "/check/lock/bad.json")).text).toMatch(/"state":"critical"/);
  });

  test("tells viewers what has changed: once for many of one page, and no more than that", async ({
    namespace,
    onTestFinished,
  }) => {
    await holdLock(namespace, "first");
    const url = await startPage(namespace);
    const viewers = Array.from({ length: 3 }, () => followPage(url, "/locks?sort=name", onTestFinished));
    await waitUntil("all have the page", () => viewers.every(({ text }) => text.includes("/lock/first")));
    await holdLock(namespace, "second");
    const readChange = ({ text }: { text: string }) =>
      text.split("\n\n").find((event) => event.includes("/lock/second"));
    await waitUntil("all know", () => viewers.every((viewer) => readChange(viewer) !== undefined));
    const [change = "", ...others] = viewers.map(readChange);
    expect(others).toEqual([change, change]);
    const { blocks } = JSON.parse(change.replace("data: ", ""));
    const rows = blocks.find(({ id }: { id: string }) => id === "rows");
    expect(rows.order).toHaveLength(2);
    expect(Object.values(rows.put)).toContainEqual(expect.stringContaining("/lock/second"));
  });

  test("asks for its token, tells browsers so, and lets nobody write", async ({ namespace }) => {
    const token = "correct horse battery staple";
    const file = join(createTestFolder(), "token");
    writeFileSync(file, `${token}\n`, { mode: 0o600 });
    const page = namespace.start(["serve", "--listen", "127.0.0.1:0", "--token-file", file]);
    await page.waitForOutput(/metrics on \S+\n/);
    const url = `http://${/metrics on (\S+)\n/.exec(page.output.stderr)?.[1]}`;
    for (const path of ["/", "/metrics", "/healthz", "/files/style.css", "/lock/x.json"]) {
      const { status, headers, text } = await askPage(url, path);
      expect({ status, asks: headers["www-authenticate"], text }).toMatchObject({
        status: 401,
        asks: /^Basic /,
      });
    }
    const headers = { authorization: `Bearer ${token}` };
    await waitUntil("it is let in", async () => (await askPage(url, "/locks", { headers })).status === 200);
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
      expect(await askPage(url, "/locks", { headers, method })).toMatchObject({
        status: 405,
        headers: { allow: "GET, HEAD" },
      });
    const { headers: answered, text } = await askPage(url, "/locks", { headers, method: "HEAD" });
    expect(text).toBe("");
    expect(answered).toMatchObject({
      "content-security-policy": expect.stringMatching(/^default-src 'none'; (?!.*unsafe)/),
      "referrer-policy": "no-referrer",
      "x-frame-options": "DENY",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    });
    expect(answered["set-cookie"]).toBeUndefined();
    expect(page.output.stderr).not.toContain(token);
  });

  test("refuses what would take a long time, and what is not there", async ({ namespace }) => {
    await putTickets(namespace, 250, 0);
    const url = await startPage(namespace);
    expect((await askPage(url, "/locks?filter=%2F(a%2B)%2B%24%2F")).text).toMatch(/no regular expressions/);
    expect((await askPage(url, `/locks?filter=${"a%20".repeat(9)}`)).status).toBe(400);
    expect((await askPage(url, `/locks?sort=${"a".repeat(500)}`)).status).toBe(400);
    expect((await askPage(url, `/locks?x=${"a".repeat(20_000)}`)).status).toBe(431);
    for (const path of ["/nothing", "/host/nowhere", "/schedule/none", "/run/none", "/group/none.json"])
      expect((await askPage(url, path)).status).toBe(404);
    const count = (text: string) => text.match(/<tr id=/g)?.length;
    expect(count((await askPage(url, "/locks")).text)).toBe(100);
    expect(count((await askPage(url, "/locks?page=3")).text)).toBe(50);
    expect(count((await askPage(url, "/locks?page=99999999999")).text)).toBe(50);
  });
});

/** Removes what changes from one moment to the next. */
function dropTimes(text: string) {
  return text.replaceAll(/"(?:left|revision|until|from|busy|average)":"?[\d.e-]+"?/g, "");
}
