/** `npm run test:failed` on real runs of vitest: what it runs again, what it refuses, and what it records. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");

/** A test file whose test "works" does `body` each time, which sees the number of the try. */
const buildTestFile = (body: string) => `
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { expectNoViolation, retryAfterStalls } from ${JSON.stringify(join(ROOT, "fixtures/steady.ts"))};
const path = import.meta.filename + ".tries";
const countTry = () => {
  const tries = existsSync(path) ? Number(readFileSync(path, "utf8")) + 1 : 1;
  writeFileSync(path, String(tries));
  return tries;
};
const stall = () => { for (const end = performance.now() + 400; performance.now() < end; ); };
test("works", async (context) => { ${body} });
`;

const CONFIG = `
process.env.SEED ??= String(Math.random());
export default { test: { reporters: ["dot", ${JSON.stringify(join(ROOT, "scripts/test-report/reporter.ts"))}] } };
`;

const FAILS_ONCE = 'expect(countTry(), "this try").toBe(2)';
const VITEST = ["vitest", "run"] as const;
const FAILS_ALWAYS = 'expect(countTry(), "this try").toBe(0)';
const LEAVES_REJECTION =
  'countTry(); Promise.reject(new Error("nobody waits")); await new Promise((done) => setImmediate(done))';
const IS_KILLED = 'countTry(); process.kill(process.pid, "SIGKILL"); await new Promise(() => {})';

/** A project with tests in a git repository of its own; it is removed with the test. */
class Project {
  readonly #folder = mkdtempSync(join(tmpdir(), "signalbox-test-failed-"));
  readonly commit: string;

  constructor(bodies: Record<string, string>) {
    onTestFinished(() => rmSync(this.#folder, { recursive: true, force: true }));
    symlinkSync(join(ROOT, "node_modules"), join(this.#folder, "node_modules"));
    mkdirSync(join(this.#folder, "test"));
    for (const [name, body] of Object.entries(bodies))
      this.#write(`test/${name}.test.ts`, buildTestFile(body));
    this.#write("test/flaky.md", "# Head\n");
    this.#write("vitest.config.ts", CONFIG);
    const author = ["-c", "user.name=test", "-c", "user.email=test@example.com"];
    this.#git("init", "--quiet");
    this.#git(...author, "commit", "--quiet", "--allow-empty", "--message", "first");
    this.commit = this.#git("rev-parse", "--short=8", "HEAD").trim();
  }

  /** Runs the tests as CI does. @returns the exit code and the output of both runs together */
  run(file: string, ...args: string[]) {
    const first = this.#spawn(file, ...args);
    const second =
      first.status === 0
        ? undefined
        : this.#spawn("node", join(ROOT, "scripts/test-failed.ts"), file, ...args);
    const { status } = second ?? first;
    return { status, output: [first, second].map((run) => `${run?.stdout}${run?.stderr}`).join("") };
  }

  countTries(name: string) {
    return Number(this.read(`test/${name}.test.ts.tries`));
  }

  read(name: string) {
    return readFileSync(join(this.#folder, name), "utf8");
  }

  #spawn(file: string, ...args: readonly string[]) {
    // Nothing of the vitest around it.
    const own = Object.entries(process.env).filter(
      ([name]) => !/^(VITEST|SIGNALBOX|TEST|MODE|DEV|PROD)/.test(name),
    );
    const env = {
      ...Object.fromEntries(own),
      PATH: [join(ROOT, "node_modules/.bin"), process.env.PATH].join(delimiter),
    };
    return spawnSync(file, args, { cwd: this.#folder, env, encoding: "utf8" });
  }

  #write(name: string, text: string) {
    writeFileSync(join(this.#folder, name), text);
  }

  #git(...args: readonly string[]) {
    return execFileSync("git", args, { cwd: this.#folder, encoding: "utf8" });
  }
}

describe("tests that failed are run again", () => {
  test("one passes then: CI passes, and the test is recorded, and printed to be copied", () => {
    const project = new Project({ once: FAILS_ONCE, good: "countTry()" });
    const { status, output } = project.run(...VITEST);
    expect({ status, output }).toMatchObject({ status: 0 });
    expect([project.countTries("once"), project.countTries("good")]).toEqual([2, 1]);
    const date = new Date().toISOString().slice(0, 10);
    const entry = `
## test/once.test.ts: works

${date}, commit ${project.commit}: \`AssertionError: this try: expected 1 to be 2 // Object.is equality\`

Open
`;
    expect(project.read("test/flaky.md")).toBe(`# Head\n${entry}`);
    expect(output).toContain(entry);
  });

  test("one fails twice: CI fails, and nothing is recorded", () => {
    const project = new Project({ always: FAILS_ALWAYS });
    expect(project.run(...VITEST)).toMatchObject({ status: 1 });
    expect(project.countTries("always")).toBe(2);
    expect(project.read("test/flaky.md")).toBe("# Head\n");
  });

  test("with the seed of the first run", () => {
    const body = 'writeFileSync(path + "." + countTry(), process.env.SEED); expect(1).toBe(0)';
    const project = new Project({ seeded: body });
    expect(project.run(...VITEST)).toMatchObject({ status: 1 });
    expect(project.read("test/seeded.test.ts.tries.1")).toBe(project.read("test/seeded.test.ts.tries.2"));
  });
});

describe("nothing is run again where something failed outside of a test", () => {
  test.each<[what: string, body: string, why: RegExp]>([
    ["a test has left a rejected promise", LEAVES_REJECTION, /nobody waits/],
    ["a worker was killed", IS_KILLED, /Worker exited unexpectedly.*test\/other\.test\.ts/],
    [
      "a file could not run",
      '}); throw new Error("no such thing"); test("x", () => {',
      /test\/other\.test\.ts.*no such thing/,
    ],
    [
      "a hook failed",
      '}); import { afterAll } from "vitest"; afterAll(() => { throw new Error("left behind"); }); test("x", () => {',
      /test\/other\.test\.ts.*left behind/,
    ],
  ])("%s: CI fails", (_, body, why) => {
    const project = new Project({ once: FAILS_ONCE, other: body });
    const { status, output } = project.run(...VITEST);
    expect({ status, output }).toMatchObject({ status: 1 });
    expect(output.split("not run again, because")[1]).toMatch(why);
    expect(project.countTries("once")).toBe(1);
    expect(project.read("test/flaky.md")).toBe("# Head\n");
  });

  test("there is no report of a run: CI fails", () => {
    const project = new Project({ once: FAILS_ONCE });
    const { status, output } = project.run("false");
    expect({ status, output }).toMatchObject({
      status: 1,
      output: expect.stringMatching(/not run again.*no report/s),
    });
  });
});

describe("tests that retryAfterStalls repeats", () => {
  const play = (body: string) => `await retryAfterStalls(context.task, async () => { ${body} })`;

  test("are counted by file, and pass", () => {
    const project = new Project({ stalls: play(`stall(); ${FAILS_ONCE}`), good: play("countTry()") });
    const { status, output } = project.run(...VITEST);
    expect({ status, output }).toMatchObject({ status: 0 });
    expect(output).toContain("Repeated after stalls: 1, at most 10 in a run\n  1  test/stalls.test.ts\n");
    expect(project.read(".cache/test-report.json")).toContain('"test/stalls.test.ts": 1');
  });

  test("are not repeated without a stall", () => {
    const project = new Project({ calm: play(FAILS_ALWAYS) });
    expect(project.run(...VITEST)).toMatchObject({ status: 1 });
    expect(project.countTries("calm"), "one for each run").toBe(2);
  });

  test("are not repeated, stall or not, if a promise was broken", () => {
    const body = `stall(); countTry(); expectNoViolation(["two commands at once"])`;
    const project = new Project({ broken: play(body) });
    expect(project.run(...VITEST)).toMatchObject({ status: 1 });
    expect(project.countTries("broken"), "one for each run").toBe(2);
  });

  test("more than ten times in a run: CI fails, although all passed, and runs nothing again", () => {
    const body = play('stall(); expect(countTry() % 3, "this try").toBe(0)');
    const project = new Project(Object.fromEntries("abcdef".split("").map((name) => [name, body])));
    const { status, output } = project.run(...VITEST);
    expect({ status, output }).toMatchObject({ status: 1 });
    expect(output).toContain("6 passed");
    expect(output.split("not run again, because")[1]).toContain("tests were repeated 12 times after stalls");
  });
});
