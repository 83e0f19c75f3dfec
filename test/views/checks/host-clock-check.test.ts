import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HostClockCheck } from "../../../src/views/checks/key-check.ts";
import { NOW } from "../../state/pictures.ts";

const told = (clocks: HostClockCheck, own = "here.x") =>
  clocks.listFindings(own, NOW).map(({ level, check, detail }) => `${level} ${check}: ${detail}`);
/** A host writes at a revision what its clock shows. */
const stamp = (clocks: HostClockCheck, host: string, revision: number, at: number, late = 15_000) =>
  clocks.addStamp({ host, at, revision: BigInt(revision), late }, NOW);

describe("clocks of hosts", () => {
  test("nothing was written", () => {
    expect(told(new HostClockCheck())).toEqual([
      expect.stringMatching(/^ok clocks of hosts: no host has written a time/),
    ]);
  });

  test("ahead of this host's: certain, and told once with the most", () => {
    const clocks = new HostClockCheck();
    clocks.addTime("a.x", NOW + 6_000, NOW);
    clocks.addTime("A.x", NOW + 3_600_000, NOW);
    clocks.addTime("b.x", NOW + 4_000, NOW); // not worth a word
    expect(told(clocks)).toEqual(["warning clock of a.x: it is 1h or more ahead of this host's (here.x)"]);
  });

  test("this host's own, when the clock was set back", () => {
    const clocks = new HostClockCheck();
    clocks.addTime("here.x", NOW + 60_000, NOW);
    expect(told(clocks)).toEqual([
      expect.stringMatching(/^warning clock of here.x: .*the clock was set back/),
    ]);
  });

  test("behind: by the order of revisions", () => {
    const clocks = new HostClockCheck();
    stamp(clocks, "a.x", 10, NOW - 60_000);
    stamp(clocks, "b.x", 11, NOW - 660_000);
    stamp(clocks, "c.x", 12, NOW - 50_000);
    stamp(clocks, "b.x", 13, NOW - 640_000);
    expect(told(clocks)).toEqual([
      expect.stringMatching(/^warning clock of (a|b).x: it is about 10m or more/),
    ]);
  });

  test("one that disagrees with many is the one that is named", () => {
    const clocks = new HostClockCheck();
    for (const [index, host] of ["a.x", "b.x", "c.x", "d.x"].entries()) {
      clocks.addSequence(
        { host, at: NOW - 1_000 * index },
        { host: "slow.x", at: NOW - 600_000 },
        15_000,
        NOW,
      );
    }
    expect(told(clocks)).toEqual([
      expect.stringMatching(
        /^warning clock of slow.x: it is about 10m or more behind the clock of a.x, b.x, c.x and 1 more/,
      ),
    ]);
  });

  test.each<[what: string, first: number, second: number]>([
    ["a write that took as long as it may", NOW - 1_000, NOW - 15_000],
    ["what was long ago", NOW - 200_000_000, NOW - 300_000_000],
  ])("%s is no fault of the clock", (_, first, second) => {
    const clocks = new HostClockCheck();
    clocks.addSequence({ host: "a.x", at: first }, { host: "b.x", at: second }, 15_000, NOW);
    expect(told(clocks)).toEqual([expect.stringMatching(/^ok/)]);
  });

  test("clocks that agree within the time a write may take are never blamed", () => {
    const write = fc.record({
      host: fc.constantFrom("a.x", "b.x", "c.x"),
      pause: fc.integer({ min: 0, max: 20_000 }),
      delay: fc.integer({ min: 0, max: 15_000 }),
    });
    fc.assert(
      fc.property(fc.array(write, { maxLength: 60 }), (writes) => {
        const clocks = new HostClockCheck();
        let time = NOW - 60 * 20_000;
        for (const [revision, { host, pause, delay }] of writes.entries()) {
          time += pause;
          stamp(clocks, host, revision, time - delay); // written down before it was written
        }
        expect(told(clocks)).toEqual([expect.stringMatching(/^ok/)]);
      }),
    );
  });

  test("many hosts and many times cost only so much", () => {
    const clocks = new HostClockCheck();
    for (let revision = 0; revision < 20_000; revision += 1)
      stamp(clocks, `h${revision % 6_000}.x`, revision, NOW - 20_000 + revision);
    expect(told(clocks)).toEqual([expect.stringMatching(/^ok clocks of hosts: 5000 hosts/)]);
  });
});
