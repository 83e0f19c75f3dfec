// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a shell's, not ours
/** Words that shells treat differently, and translations that a run would refuse. */
import { describe, expect, test } from "vitest";
import { migrateCrontab } from "../../../src/compat/migrate/crontab.impl.ts";

function migrated(command: string) {
  const text = `SHELL=/bin/bash\nCRONLOCK_PREFIX=p.\nA=1\n* * * * * ${command}\n`;
  const { text: after, lines } = migrateCrontab(text, {
    format: "user",
    plain: false,
    program: "signalbox",
    files: new Map(),
  });
  const reason = lines.find((line) => line.reason !== undefined)?.reason;
  return { isSame: after === text, after, reason, notes: lines.flatMap(({ notes }) => notes) };
}

describe("words that only the shell knows: the lock's name, or what is run, would be another", () => {
  test.each([
    ["cronlock job {a,b}", /what cronlock makes of \{a,b\} is known only/],
    ["cronlock job x{1..3}y", /what cronlock makes of x\{1\.\.3\}y is known only/],
    ["golock job $'a\\tb'", /what golock makes of \$a\\tb is known only/],
    ['cronlock job $"a"', /what cronlock makes of \$a is known only/],
    ["cronlock job dir=~/x", /what cronlock makes of dir=~\/x is known only/],
    ["cronlock job dir=/a:~/x", /what cronlock makes of dir=\/a:~\/x is known only/],
    ["zoo-locked e:2379 /l job-{a,b}", /\{ has a value that only the shell knows/],
  ])("%s", (line, reason) => {
    expect(migrated(line)).toMatchObject({ isSame: true, reason: expect.stringMatching(reason) });
  });

  test.each([
    "cronlock job '{a,b}' \"{a,b}\" \\{a,b}",
    "cronlock find . -exec job {} + a{b}c {a",
    "{ cronlock job a,b; }",
    "cronlock job --dir=~/x x:~ a~",
    "cronlock curl http://h/{a,b}",
    "flock -n /x job {a,b} $'c' d=~/e",
  ])("%s is none of them", (line) => {
    expect(migrated(line)).toMatchObject({ isSame: false, reason: undefined });
  });
});

test("a backslash at the end of a line is one", () => {
  expect(migrated("zoo-locked e:2379 /l job\\").after).toContain("-- sh -c job\\\n");
});

test.each([
  ["etcdctl lock '' job", /signalbox run would refuse it: lock name "": it is empty/],
  [`etcdctl lock ${"x".repeat(513)} job`, /would refuse it: lock name .*: it has 513 bytes/],
  ["etcdctl lock --ttl 999999999 m job", /would refuse it: --ttl: "999999999s" is longer than ten years/],
])("what a run would refuse stays: %s", (line, reason) => {
  expect(migrated(line)).toMatchObject({ isSame: true, reason: expect.stringMatching(reason) });
});

describe("variables that the line itself changes before the tool", () => {
  test.each([
    ["CRONLOCK_KEY=a; cronlock job", "gets is not known after CRONLOCK_KEY=a, which is not exported; write"],
    ["unset CRONLOCK_PREFIX; cronlock job", "what cronlock gets is not known after unset CRONLOCK_PREFIX"],
    ["read CRONLOCK_KEY; export CRONLOCK_KEY; golock job", "after read CRONLOCK_KEY"],
    ["A=2; cronlock job $A", "what cronlock makes of $A is known only when the shell runs it"],
    ['for A in 2 3; do golock job "$A"; done', "what golock makes of $A is known only"],
  ])("%s stays", (line, reason) => {
    expect(migrated(line)).toMatchObject({ isSame: true, reason: expect.stringContaining(reason) });
  });

  test.each([
    ["export CRONLOCK_KEY=a; cronlock job", "p.a"],
    ["CRONLOCK_KEY=a; export CRONLOCK_KEY && cronlock job", "p.a"],
    ["CRONLOCK_PREFIX=q.; CRONLOCK_KEY=a cronlock job", "q.a"],
    ["A=2; CRONLOCK_KEY=a cronlock job $A", "p.a"],
  ])("%s: known", (line, lock) => {
    expect(migrated(line)).toMatchObject({ notes: [], after: expect.stringContaining(` --lock ${lock} `) });
  });

  test("a file that is sourced may set anything: said", () => {
    const { notes, after } = migrated(". /etc/job.env && CRONLOCK_KEY=a cronlock job");
    expect(after).toContain("* * * * * . /etc/job.env && signalbox run --lock p.a ");
    expect(notes).toEqual([
      "what . /etc/job.env sets is not known here: check that it sets nothing of cronlock",
    ]);
    expect(migrated("nice envdir /etc/env cronlock job").notes).toContainEqual(
      expect.stringMatching(/^what envdir \/etc\/env sets is not known here/),
    );
    expect(migrated(". /etc/job.env && flock -n /x job").notes.join()).not.toContain("job.env");
  });
});

describe("variables that do not reach the tool", () => {
  test.each([
    [
      "sudo cronlock job",
      "sudo may keep CRONLOCK_PREFIX from cronlock; write it after the wrapper: sudo CRONLOCK_PREFIX=",
    ],
    ["sudo -u ben CRONLOCK_KEY=a cronlock job", "sudo may keep CRONLOCK_PREFIX from cronlock"],
    ["CRONLOCK_KEY=a sudo CRONLOCK_PREFIX=q. cronlock job", "sudo may keep CRONLOCK_KEY from cronlock"],
    ["/usr/bin/env -i golock job", "/usr/bin/env may keep CRONLOCK_PREFIX from golock"],
  ])("%s stays", (line, reason) => {
    expect(migrated(line)).toMatchObject({ isSame: true, reason: expect.stringContaining(reason) });
  });

  test.each([
    ["sudo CRONLOCK_PREFIX=q. CRONLOCK_KEY=a cronlock job", "--lock q.a "],
    ["sudo -E CRONLOCK_KEY=a cronlock job", "--lock p.a "],
    ["runuser -u ben -- env CRONLOCK_KEY=a cronlock job", "--lock p.a "],
    ["su - ben -c 'CRONLOCK_KEY=a cronlock job'", "--lock cronlock.a "],
    ["su ben -c 'CRONLOCK_KEY=a cronlock job'", "--lock p.a "],
    ["sudo flock -n /x job", "sudo signalbox run --lock /x "],
  ])("%s", (line, lock) => {
    expect(migrated(line)).toMatchObject({ reason: undefined, after: expect.stringContaining(lock) });
  });
});
