/** What viewers of a page are sent, and when. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { ManualClock } from "../../fixtures/manual-clock.ts";
import { followPage } from "../../fixtures/page.ts";
import { waitUntil } from "../../fixtures/wait-until.ts";
import { html } from "../../src/page/html.ts";
import { createLivePages } from "../../src/page/live.ts";

test("a page that always changes is built and sent four times a second, once for all its viewers; then only signs of life", async ({
  onTestFinished,
}) => {
  const clock = new ManualClock();
  const stop = new AbortController();
  const addViewer = createLivePages(clock, stop.signal);
  let built = 0;
  let shown = 0;
  const build = async () => {
    built += 1;
    const items = [{ id: "one", html: html`<p id="one">${shown}</p>` }];
    const blocks = [{ id: "all", before: html`<div id="all">`, items, after: html`</div>` }];
    return { page: { title: "x", section: "", blocks }, alarm: undefined };
  };
  const server = createServer((_, response) => void addViewer("/", build, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    stop.abort(new Error("the test is over"));
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const viewers = [1, 2, 3].map(() => followPage(url, "/", onTestFinished));
  const waitForPause = () => waitUntil("it pauses", () => clock.pending === 1);
  await waitUntil("all have the page", () => viewers.every(({ text }) => text.includes(">0<")));
  for (let turn = 0; turn < 4; turn += 1) {
    await waitForPause();
    const before = built;
    shown += 1;
    await clock.advance(249);
    expect(built).toBe(before);
    await clock.advance(1);
    await waitUntil("all know", () => viewers.every(({ text }) => text.includes(`>${shown}<`)));
    expect(built).toBe(before + 1);
  }
  await waitForPause();
  const all = viewers.map(({ text }) => text);
  await clock.advance(250);
  await waitForPause();
  expect(viewers.map(({ text }) => text)).toEqual(all);
  while (clock.elapsed < 16_000) {
    await clock.advance(250);
    await waitForPause();
  }
  await waitUntil("they live", () => viewers.every(({ text }) => text.endsWith("\n\n:\n\n")));
});
