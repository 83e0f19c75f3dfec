import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MISSING_BROWSER } from "../fixtures/browser.ts";
import { startEtcd } from "../fixtures/etcd/index.ts";
import { openStore } from "../src/core/etcd/open.ts";
import { createRealClock } from "../src/core/process/clock.ts";
import { buildPrefixRange } from "../src/core/protocol/txn.ts";
import { readArguments } from "./arguments.ts";
import { PAGE_SHOTS, takePages } from "./screens/page-shots.ts";
import { playChanges, writeScene } from "./screens/scene.ts";
import { SHOTS, type Shot } from "./screens/shots.ts";
import { renderSvg } from "./screens/svg.ts";
import { takeScreen } from "./screens/take-screen.ts";

const FOLDER = join(import.meta.dirname, "../docs/screens");
/** Number of consoles that run at the same time. */
const AT_ONCE = 2;

const HELP = `npm run screens -- [--check] [NAME…]

Generates docs/screens/: screens of the real console on a fixed scene in a real etcd, as texts and pictures. The output is
reproducible. With Chromium, also pictures of the page. Names select screens.

  --check   write nothing, and report stale screens (exit code 1); not of the page, which depend on Chromium`;

const { values, positionals: wanted } = readArguments(HELP, { check: { type: "boolean", default: false } });
const isCheck = values.check;
const shots = SHOTS.filter((shot) => wanted.length === 0 || wanted.includes(shot.name));
const etcd = await startEtcd();
const store = await openStore({ endpoints: etcd.endpoints }, { clock: createRealClock() });
const files = new Map<string, string | Buffer>();
const failed: string[] = [];
try {
  const stop = await writeScene(store);
  const revision = await readHead();
  const queue = shots.filter(({ isEventful }) => !isEventful);
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let shot = queue.shift(); shot !== undefined; shot = queue.shift())
        await saveScreen(shot, revision);
    }),
  );
  for (const shot of shots.filter(({ isEventful }) => isEventful))
    await saveScreen(shot, await readHead(), (seen) => playChanges(store, seen));
  const pages = PAGE_SHOTS.filter(({ name }) => wanted.length === 0 || wanted.includes(`page-${name}`));
  if (MISSING_BROWSER !== undefined) console.error(`no pictures of the page: ${MISSING_BROWSER}`);
  else if (!isCheck && pages.length > 0)
    for (const [name, picture] of await takePages(pages, etcd.endpoints)) files.set(name, picture);
  stop();
} finally {
  store.close();
  await etcd.stop();
}
if (isCheck) check();
else write();
for (const why of failed) console.error(why);
if (failed.length > 0) process.exitCode = 1;

async function readHead(): Promise<bigint> {
  return (await store.readRange({ ...buildPrefixRange("/signalbox/"), limit: 1 })).revision;
}

async function saveScreen(
  shot: Shot,
  revision: bigint,
  stirring?: Parameters<typeof takeScreen>[3],
): Promise<void> {
  const name = `${shot.name}-${shot.size.join("x")}`;
  try {
    const { rows, cells } = await takeScreen(shot, etcd.endpoints, revision, stirring);
    files.set(`${name}.txt`, `${rows.join("\n")}\n`);
    if (shot.isPicture) files.set(`${name}.svg`, renderSvg(cells, `signalbox console: ${shot.name}`));
  } catch (error) {
    failed.push(`${name}: ${error instanceof Error ? error.message : error}`);
  }
}

function write(): void {
  mkdirSync(FOLDER, { recursive: true });
  if (wanted.length === 0 && failed.length === 0)
    for (const name of readdirSync(FOLDER))
      if (/\.(txt|svg)$/.test(name) && !files.has(name)) rmSync(join(FOLDER, name));
  for (const [name, text] of files) writeFileSync(join(FOLDER, name), text);
  console.log(`${files.size} files in docs/screens/`);
}

function check(): void {
  for (const [name, text] of files) {
    const kept = read(join(FOLDER, name));
    if (kept !== text)
      failed.push(
        `docs/screens/${name}: ${kept === undefined ? "is missing" : "is stale"}; run: npm run screens`,
      );
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
