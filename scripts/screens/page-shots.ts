import { join } from "node:path";
import { openBrowser } from "../../fixtures/browser.ts";
import { startSignalbox } from "../../fixtures/signalbox.ts";
import { waitUntil } from "../../fixtures/wait-until.ts";
import { WALL } from "./scene.ts";

interface PageShot {
  /** Name of its file, after `page-`. */
  name: string;
  path: string;
  size: readonly [width: number, height: number];
  /** Whether it is as high as the page. */
  isWhole?: true;
}

export const PAGE_SHOTS: readonly PageShot[] = [
  { name: "overview", path: "/", size: [1_200, 900], isWhole: true },
  { name: "macros", path: "/macros", size: [1_280, 640] },
  { name: "history", path: "/history", size: [1_280, 900] },
  { name: "schedule", path: "/schedule/invoices.export", size: [1_100, 900] },
];

/** Takes pictures of the page of `signalbox serve` on the scene, in Chromium. */
export async function takePages(
  shots: readonly PageShot[],
  endpoints: readonly string[],
): Promise<Map<string, Buffer>> {
  const env = {
    TZ: "UTC",
    SCENE_WALL: String(WALL),
    NODE_OPTIONS: `--require ${join(import.meta.dirname, "frozen.cjs")}`,
  };
  const server = startSignalbox(["serve", "--listen", "127.0.0.1:0"], { endpoints, env });
  const browser = await openBrowser();
  try {
    await server.waitForOutput(/metrics on \S+\n/);
    const [, address] = /metrics on ([^\s/]+)/.exec(server.output.stderr) ?? [];
    const pictures = new Map<string, Buffer>();
    const page = await browser.newPage({ colorScheme: "light" });
    await page.clock.setFixedTime(WALL);
    for (const { name, path, size, isWhole = false } of shots) {
      const [width, height] = size;
      await page.setViewportSize({ width, height });
      const url = `http://${address}${path}`;
      await waitUntil("the page has read etcd", async () => (await page.goto(url))?.status() === 200);
      pictures.set(`page-${name}.png`, await page.screenshot({ fullPage: isWhole }));
    }
    return pictures;
  } finally {
    await browser.close();
    await server.end();
  }
}
