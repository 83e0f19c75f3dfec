import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  createMark,
  createOutput,
  startGuarded,
  WAIT_FOR_FILE,
} from "../../../fixtures/process/guarded-processes.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

/** A first process and a child of it in its group; each writes which signals it gets. */
const PAIR = `
exec 2>/dev/null # bash tells which of its sleeps a signal ended
tell() { for name; do trap "echo $who $name >>$OUT" $name; done; echo $who up >>$OUT; }
who=child; (tell TERM INT HUP QUIT USR2 WINCH; while [ ! -e $OUT.end ]; do sleep 0.02; done) &
who=first; tell TERM INT HUP QUIT USR2 WINCH
while [ ! -e $OUT.end ]; do sleep 0.02; done`;

async function pair() {
  const out = createOutput();
  const { it } = await startGuarded(createMark(), ["bash", "-c", PAIR], { OUT: out.path });
  await waitUntil("both up", () => out.lines().length === 2);
  return { it, heard: () => out.lines().filter((line) => !line.endsWith("up")) };
}

test.each(["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGWINCH"] as const)(
  "%s goes to the whole group",
  async (name) => {
    const { it, heard } = await pair();
    it.signal(name);
    const both = ["child", "first"].map((who) => `${who} ${name.slice(3)}`);
    await waitUntil("both heard it", () => both.every((line) => heard().includes(line)));
  },
);

test("SIGUSR2 goes to the first process only", async () => {
  const { it, heard } = await pair();
  it.signal("SIGUSR2");
  await waitUntil("the first heard it", () => heard().includes("first USR2"));
  it.signal("SIGHUP"); // by the time that the child has heard this, it would have heard the other
  await waitUntil("the child heard HUP", () => heard().includes("child HUP"));
  expect(heard()).not.toContain("child USR2");
});

test("no process is signalled after the end of the first one", async () => {
  const out = createOutput();
  const { it } = await startGuarded(createMark(), ["sh", "-c", `(${WAIT_FOR_FILE}) & exit 0`], {
    OUT: out.path,
  });
  expect(await it.exited).toMatchObject({ leftovers: true });
  it.signal("SIGTERM");
  it.signal("SIGUSR1");
  writeFileSync(out.path, ""); // else it goes on for ever
  await it.gone;
});
