/**
 * Screens of the real console on a fixed scene in a real etcd, as texts and pictures under docs/screens/: `npm run screens`. They come
 * out the same each time. `--check` writes nothing, and says which are not as the console is (exit code 1); names after it take only some.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startEtcd } from "../fixtures/etcd/index.ts";
import { openStore } from "../src/etcd/open.ts";
import { prefixRange } from "../src/etcd/store.ts";
import { realClock } from "../src/process/clock.ts";
import { stir, writeScene } from "./screens/scene.ts";
import { SHOTS, type Shot } from "./screens/shots.ts";
import { svgOf } from "./screens/svg.ts";
import { take } from "./screens/take.ts";

const FOLDER = join(import.meta.dirname, "../docs/screens");
/** Consoles at a time. */
const AT_ONCE = 2;

const words = process.argv.slice(2);
const isCheck = words.includes("--check");
const wanted = words.filter((word) => word !== "--check");
const shots = SHOTS.filter((shot) => wanted.length === 0 || wanted.includes(shot.name));
const etcd = await startEtcd();
const store = await openStore({ endpoints: etcd.endpoints }, { clock: realClock() });
const files = new Map<string, string>();
const failed: string[] = [];
try {
  const stop = await writeScene(store);
  const revision = await head();
  const queue = shots.filter(({ isEventful }) => !isEventful);
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let shot = queue.shift(); shot !== undefined; shot = queue.shift()) await keep(shot, revision);
    }),
  );
  for (const shot of shots.filter(({ isEventful }) => isEventful))
    await keep(shot, await head(), (seen) => stir(store, seen));
  stop();
} finally {
  store.close();
  await etcd.stop();
}
if (isCheck) check();
else write();
for (const why of failed) console.error(why);
if (failed.length > 0) process.exitCode = 1;

async function head(): Promise<bigint> {
  return (await store.range({ ...prefixRange("/signalbox/"), limit: 1 })).revision;
}

async function keep(shot: Shot, revision: bigint, stirring?: Parameters<typeof take>[3]): Promise<void> {
  const name = `${shot.name}-${shot.size.join("x")}`;
  try {
    const { rows, cells } = await take(shot, etcd.endpoints, revision, stirring);
    files.set(`${name}.txt`, `${rows.join("\n")}\n`);
    if (shot.isPicture) files.set(`${name}.svg`, svgOf(cells, `signalbox console: ${shot.name}`));
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
        `docs/screens/${name}: ${kept === undefined ? "is missing" : "is not as the console is"}; npm run screens`,
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
