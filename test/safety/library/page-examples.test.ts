/** Each example in JavaScript and TypeScript of README.md and docs/, as it is printed: it compiles, runs, and ends. */
import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const PAGES = ["README.md", "docs/library.md", "docs/worker.md"];

const cluster = TestCluster.startForFile();
const { test } = cluster;

/** What the page has before an example, and what belongs to the reader: by the first words that only this example has. */
const AROUND: Record<string, { before?: string; after?: string; prints?: RegExp }> = {
  'connect({ endpoints: ["https://etcd1:2379"], ttl': {},
  'schedules.add("mail.digest"': {},
  "schedules.sync": { before: "const { schedules } = signalbox;" },
  'jobs.add("invoice"': { after: "console.log(id, isNew);", prints: /^\S+ true$/m },
  'jobs.add("resize"': {
    before: `const file = "a.png";
      const resizer = new Worker(signalbox, { handlers: { resize: ({ data }) => ({ width: data.file.length }) } });
      void resizer.run();`,
    after: "console.log(width);",
    prints: /^5$/m,
  },
  "interface Jobs": {
    before: `await signalbox.jobs.add("mail", { to: "ann" });
      const send = async (to: string) => { console.log("to", to); setImmediate(() => worker.stop()); };
      const backUp = async (signal: AbortSignal) => console.log(signal.aborted);`,
    prints: /^to ann$(.|\n)* ok undefined$/m,
  },
  'test("the digest': {
    before: `const declareSchedules = (schedules) => schedules.add("mail.digest", { cron: "0 7 * * *" });
      const sendDigest = () => {};`,
    prints: /# pass 1|pass 1$/m,
  },
  "function nightly": {
    before:
      "const ready = async () => true; const build = async (...work: unknown[]) => console.log(work.length);",
  },
};

interface PageExample {
  name: string;
  language: "js" | "ts";
  text: string;
  around: (typeof AROUND)[string];
}

function listExamples(page: string): PageExample[] {
  const blocks = [...readFileSync(join(ROOT, page), "utf8").matchAll(/^```(js|ts)\n(.*?)^```$/gms)];
  return blocks.map(([, language, text = ""], index) => {
    const [, around = {}] = Object.entries(AROUND).find(([part]) => text.includes(part)) ?? [];
    return { name: `${page}, example ${index + 1}`, language: language === "js" ? "js" : "ts", text, around };
  });
}

const EXAMPLES = PAGES.flatMap(listExamples);

/** Puts an example where its page has it: after `connect`, whose connection ends with the program. */
function buildProgram({ text, around }: PageExample) {
  const own = `${around.before ?? ""}\n${text}`;
  const names = ["connect", "Worker"].filter((name) => !new RegExp(`import .*\\b${name}\\b`).test(text));
  const connects = /\bsignalbox\b/.test(own.replace(/"signalbox[^"]*"/g, ""));
  const isConnected = !connects || /const signalbox = /.test(text);
  return [
    `import { ${names.join(", ")} } from "signalbox";`,
    ...(isConnected ? [] : ["const signalbox = await connect();"]),
    own,
    around.after ?? "",
    ...(connects && !/await signalbox\.close/.test(text) ? ["await signalbox.close();"] : []),
  ].join("\n");
}

let folder: string;
beforeAll(() => {
  folder = createTestFolder(afterAll);
  mkdirSync(join(folder, "node_modules/@types"), { recursive: true });
  symlinkSync(ROOT, join(folder, "node_modules/signalbox"));
  symlinkSync(join(ROOT, "node_modules/@types/node"), join(folder, "node_modules/@types/node"));
  for (const [index, one] of EXAMPLES.entries())
    writeFileSync(join(folder, getFile(index)), buildProgram(one));
});

const getFile = (index: number) => `example${index}.${EXAMPLES[index]?.language === "js" ? "mjs" : "mts"}`;

test("there are examples, and each is known here", () => {
  expect(EXAMPLES.length).toBeGreaterThanOrEqual(10);
  expect(Object.keys(AROUND).filter((part) => !EXAMPLES.some(({ text }) => text.includes(part)))).toEqual([]);
});

describe.concurrent.each(EXAMPLES.map((one, index) => ({ ...one, index })))(
  "$name",
  ({ text, around, index }) => {
    test("runs, and ends", async ({ expect }) => {
      const words = [...(text.includes("node:test") ? ["--test"] : []), join(folder, getFile(index))];
      const env = {
        ...cluster.createNamespace().env,
        PATH: process.env.PATH,
        SIGNALBOX_ENDPOINTS: cluster.etcd.endpoints.join(","),
        NODE_NO_WARNINGS: "1",
      };
      const { stdout, stderr } = await promisify(execFile)(process.execPath, words, { cwd: folder, env });
      expect(stderr).toBe("");
      expect(stdout).toMatch(around.prints ?? /^/);
    });
  },
);

test("those in TypeScript compile strictly", () => {
  const include = EXAMPLES.flatMap(({ language }, index) => (language === "ts" ? [getFile(index)] : []));
  const compilerOptions = {
    module: "nodenext",
    target: "es2024",
    lib: ["es2024", "esnext.disposable", "dom"],
    strict: true,
    skipLibCheck: false,
    noEmit: true,
    types: ["node"],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include }));
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const { stdout } = spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" });
  expect(stdout).toBe("");
});
