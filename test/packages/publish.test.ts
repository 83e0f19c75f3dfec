/** What `npm publish` would upload. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
/** Expected without an account. */
const NOT_LOGGED_IN = /requires you to be logged in/;

let registry: Server;
beforeAll(async () => {
  registry = createServer((_, response) => response.writeHead(404).end("{}")).listen(0, "127.0.0.1");
  await once(registry, "listening");
});
afterAll(() => registry?.close());

/** npm, without the settings of this checkout and of this user, and with a registry that has no package. */
async function runNpm(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const { port } = registry.address() as AddressInfo;
  const own = [`--registry=http://127.0.0.1:${port}/`, "--userconfig=/dev/null", "--ignore-scripts"];
  const settings = Object.keys(process.env).filter((name) => /^npm_config_/i.test(name));
  const env = { ...process.env, ...Object.fromEntries(settings.map((name) => [name, undefined])) };
  const child = spawn("npm", [...args, ...own], { cwd: ROOT, env });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (text: Buffer) => {
    stdout += text;
  });
  child.stderr.on("data", (text: Buffer) => {
    stderr += text;
  });
  const [code] = await once(child, "close");
  return { code, stdout, stderr };
}

test("npm publish --dry-run has nothing to complain about", async () => {
  const { code, stderr } = await runNpm("publish", "--dry-run", "--loglevel=notice");
  const complaints = stderr.split("\n").filter((line) => /^npm (warn|error)/i.test(line));
  expect({ code, complaints: complaints.filter((line) => !NOT_LOGGED_IN.test(line)) }).toEqual({
    code: 0,
    complaints: [],
  });
  expect(stderr).toContain("total files:"); // the log level shows warnings
});

/** Everything that is published, and nothing of sources, tests and scripts. */
const PUBLISHED = [
  /^(CHANGELOG|README|SECURITY)\.md$|^LICENSE$|^package\.json$/,
  /^docs\/[\w./-]+\.(md|json|svg|png|service|socket|timer|yml|yaml|txt|cast)$|^docs\/logrotate\/signalbox$/,
  /^examples\/[\w.-]+\.(?:mjs|yaml)$/,
  /^dist\/man\/signalbox(-[a-z-]+)?\.1$/,
  /^dist\/signalbox(\.cjs)?$|^dist\/licences\.txt$/,
  /^dist\/(agent|agent-socket|complete|console|front|full|run)\.cjs$|^dist\/(library|task-host)\.mjs$/,
  /^dist\/(front|run)-[0-9a-f]{16}-v[\d.]+-(x64|arm64)\.code$/,
  /^dist\/completions\/(bash\/signalbox|fish\/signalbox\.fish|zsh\/_signalbox)$/,
  /^dist\/maintenance\/(evacuate|freeze|rolling|thaw)\.mjs$/,
  /^dist\/modules\/(cron-parser|ical\.js|jsonc-parser|opentelemetry|prom-client|yaml)\.cjs$/,
  /^dist\/native\/(x64|arm64)\/(SHA256SUMS|guardian|launcher|notify|peer\.node)$/,
  /^dist\/types\/[\w/-]+\.d\.ts$|^dist\/types\/commonjs\/package\.json$/,
];

test("only what a user needs is published", async () => {
  const { stdout } = await runNpm("pack", "--dry-run", "--json");
  const [{ files = [] } = {}] = JSON.parse(stdout) as { files?: { path: string }[] }[];
  const paths = files.map(({ path }) => path);
  expect(paths.filter((path) => !PUBLISHED.some((known) => known.test(path)))).toEqual([]);
  expect(PUBLISHED.filter((known) => !paths.some((path) => known.test(path)))).toEqual([]);
});
