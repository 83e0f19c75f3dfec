/** The page of `signalbox serve` in Debian's Chromium. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect } from "vitest";
import {
  listAccessFaults,
  MISSING_BROWSER,
  openBrowser,
  openWatchedPage,
} from "../../../fixtures/browser.ts";
import { holdLock, putTickets } from "../../../fixtures/cluster/sample-queues.ts";
import { putSampleSchedules, putSamples } from "../../../fixtures/cluster/sample-site.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { startPage } from "../../../fixtures/page.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { LISTINGS } from "../../../src/cli/commands/see/ls/ls.ts";

const { test } = TestCluster.startForFile();
const PATHS = [
  "/",
  ...LISTINGS.filter((id) => id !== "overview").map((id) => `/${id}`),
  "/lock/x",
  "/lock/past",
  "/resource/db",
  "/host/web1.example.com",
  "/group/web",
  "/schedule/whole",
  "/schedule/split",
  "/locks?filter=nothing",
  "/host/nowhere",
];
const WIDTHS = [360, 1_280, 2_560];

describe.skipIf(MISSING_BROWSER !== undefined)(
  `the page in a browser${MISSING_BROWSER ? `: ${MISSING_BROWSER}` : ""}`,
  () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await openBrowser();
    });
    afterAll(async () => await browser?.close());

    test.for(["light", "dark"] as const)(
      "every page fits at each width, breaks no rule of the policy, and axe finds nothing serious, %s",
      async (colorScheme, { namespace }) => {
        await putSamples(namespace);
        await putSampleSchedules(namespace);
        const url = await startPage(namespace, ["--show-output"]);
        const { page, faults } = await openWatchedPage(browser, { colorScheme });
        for (const path of PATHS) {
          await page.goto(url + path);
          await waitUntil("it is live", () => page.evaluate("document.readyState === 'complete'"));
          for (const width of WIDTHS) {
            await page.setViewportSize({ width, height: 800 });
            const excess = Number(await page.evaluate("document.documentElement.scrollWidth - innerWidth"));
            expect({ path, width, excess: Math.max(0, excess) }).toEqual({ path, width, excess: 0 });
          }
          expect({ path, found: await listAccessFaults(page) }).toEqual({ path, found: [] });
          expect(await page.locator("h1").count()).toBe(1);
        }
        expect(faults.filter((text) => !text.includes("404"))).toEqual([]);
        await page.context().close();
      },
    );

    test("what changes in etcd changes on the page, with the focus where it was; etcd goes and comes back", async ({
      namespace,
    }) => {
      const proxy = await namespace.startProxy();
      await holdLock(namespace, "b");
      const url = await startPage(namespace, [], { endpoints: [proxy.url] });
      const { page, faults } = await openWatchedPage(browser);
      await page.goto(`${url}/locks`);
      await page.getByRole("link", { name: "b", exact: true }).focus();
      await holdLock(namespace, "a");
      await page.getByRole("link", { name: "a", exact: true }).waitFor();
      expect(await page.locator("tbody th").allTextContents()).toEqual(["a", "b"]);
      expect(await page.evaluate("document.activeElement.textContent")).toBe("b");
      proxy.mode = "refuse";
      proxy.reset();
      await page.getByText(/etcd is unreachable since/).waitFor();
      expect(await page.locator("tbody th").allTextContents()).toEqual(["a", "b"]);
      proxy.mode = "forward";
      await page.getByText(/etcd is unreachable since/).waitFor({ state: "detached" });
      await namespace.expectDone("drain", "lock", "a", "--yes");
      await page.getByText("drained by").first().waitFor();
      expect(faults).toEqual([]);
      await page.context().close();
    });

    test("the page says that it is cut off from its server, and goes on when the server is back", async ({
      namespace,
    }) => {
      await holdLock(namespace, "a");
      const first = namespace.start("serve --listen 127.0.0.1:0");
      await first.waitForOutput(/metrics on \S+\n/);
      const [, address = ""] = /metrics on (\S+)\n/.exec(first.output.stderr) ?? [];
      const { page } = await openWatchedPage(browser);
      await waitUntil(
        "etcd was read",
        async () => (await page.goto(`http://${address}/locks`))?.status() === 200,
      );
      await first.end();
      await page.getByText("Not connected to signalbox serve").waitFor();
      namespace.start(["serve", "--listen", address]);
      await page.getByText("Not connected to signalbox serve").waitFor({ state: "detached" });
      await holdLock(namespace, "b");
      await page.getByRole("link", { name: "b", exact: true }).waitFor();
      await page.context().close();
    });

    test("names from etcd are text, whatever they contain", async ({ namespace }) => {
      const names = [
        `<script>document.title="taken"</script>`,
        `"><img src=x onerror=alert(1)>`,
        "javascript:alert(1)",
        "a\u202eb",
        "..",
        "w".repeat(300),
        "</tbody></table><h1>taken",
      ];
      for (const [at, name] of names.entries()) {
        const run = String(at).padStart(16, "r");
        await namespace.put(
          namespace.keys.lock(name, run),
          JSON.stringify({
            v: 1,
            run,
            host: name,
            pid: 1,
            command: name,
            label: name,
            state: "held",
            count: 1,
            total: 1,
            enqueuedAt: 1,
            grantedAt: 1,
            lock: true,
          }),
        );
      }
      const url = await startPage(namespace);
      const { page, faults } = await openWatchedPage(browser, { viewport: { width: 360, height: 800 } });
      const dialogs: string[] = [];
      page.on("dialog", (dialog) => dialogs.push(dialog.message()));
      for (const path of ["/locks", "/runs", "/hosts", "/problems", "/"]) {
        await page.goto(url + path);
        expect(await page.locator("main script, main img").count()).toBe(0);
        expect(await page.locator("h1").count()).toBe(1);
        expect(await page.title()).toContain("signalbox");
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
      }
      await page.goto(`${url}/locks`);
      const shown = await page.locator("tbody th a").allTextContents();
      expect(shown).toContain(names[0]);
      expect(shown).toContain("a\\u{202e}b");
      for (const [at] of names.entries()) {
        await page.goto(`${url}/locks`);
        await page.locator("tbody th a").nth(at).click();
        expect(await page.locator("h1").textContent()).toMatch(/^lock .*: /);
      }
      expect({ faults, dialogs }).toEqual({ faults: [], dialogs: [] });
      await page.context().close();
    });

    test("without JavaScript, all is there, and the page loads itself again", async ({ namespace }) => {
      await putTickets(namespace, 120, 1);
      const url = await startPage(namespace);
      const { page } = await openWatchedPage(browser, { javaScriptEnabled: false });
      await page.goto(`${url}/locks`);
      await holdLock(namespace, "new");
      await page.getByLabel("Filter").fill("new");
      await page.getByRole("button", { name: "Show" }).click();
      await page.getByRole("link", { name: "new", exact: true }).waitFor();
      await page.goto(`${url}/locks`);
      await page.getByRole("link", { name: "next page" }).click();
      expect(await page.locator("tbody tr").count()).toBe(21);
      await page.getByRole("link", { name: "NAME" }).click();
      expect(new URL(page.url()).search).toBe("?sort=-name");
      const loaded = page.waitForResponse((response) => response.url().includes("/locks"));
      await loaded; // nobody has done anything
      await page.context().close();
    });

    test("a printed page is its content, dark on white, whatever the theme of the screen", async ({
      namespace,
    }) => {
      await holdLock(namespace, "a");
      const url = await startPage(namespace);
      const { page } = await openWatchedPage(browser, { colorScheme: "dark" });
      await page.goto(`${url}/locks`);
      await page.emulateMedia({ media: "print" });
      expect(await page.locator("nav, form").filter({ visible: true }).count()).toBe(0);
      expect(await page.getByRole("link", { name: "a", exact: true }).isVisible()).toBe(true);
      const readColour = (name: string) => page.evaluate(`getComputedStyle(document.body).${name}`);
      expect(await readColour("backgroundColor")).toBe("rgb(255, 255, 255)");
      expect(await readColour("color")).toBe("rgb(27, 33, 40)");
      await page.context().close();
    });

    test("all can be reached by the keyboard, in the order of the page", async ({ namespace }) => {
      await holdLock(namespace, "a");
      const url = await startPage(namespace);
      const { page } = await openWatchedPage(browser);
      await page.goto(`${url}/locks`);
      await page.keyboard.press("Tab");
      expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to the content");
      await page.keyboard.press("Enter");
      const reached: string[] = [];
      for (let at = 0; at < 16 && reached.at(-1) !== "a"; at += 1) {
        await page.keyboard.press("Tab");
        reached.push(
          String(await page.evaluate("document.activeElement.name || document.activeElement.textContent")),
        );
      }
      expect(reached.slice(0, 3)).toEqual(["filter", "all", "Show"]);
      expect(reached).toContain("NAME");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "lock a: held" }).waitFor();
      await page.context().close();
    });
  },
);
