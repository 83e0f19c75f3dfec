import { describe, expect, it } from "vitest";
import { parseRemedyLine } from "../../../src/console/overlays/remedies.ts";

function summarize(remedy: string) {
  const line = parseRemedyLine(remedy);
  return line && [line.command.id, line.args, line.flags];
}

describe("the command that a remedy names", () => {
  it.each([
    [
      "signalbox reset lock legacy-import --run nwteq0 --force",
      ["reset", ["lock", "legacy-import"], { run: "nwteq0", force: true }],
    ],
    ["signalbox undrain lock 'a b;c'", ["undrain", ["lock", "a b;c"], {}]],
    [
      "is cron running there? Or take them out: signalbox group remove web HOST",
      ["group remove", ["web"], {}],
    ],
    ["signalbox resource set db TOTAL, and leave totals out of --lease", ["resource set", ["db"], {}]],
    ["signalbox schedule delete x, and add it again", ["schedule delete", ["x"], {}]],
    ["see: signalbox ls problems", ["ls", ["problems"], {}]],
    ["signalbox prune --vanished", ["prune", [], { vanished: true }]],
  ])("%j is read with what is known of it", (remedy, line) => {
    expect(summarize(remedy)).toEqual(line);
  });

  it.each([
    "for production, three or five members",
    "start it: systemctl start signalbox-agent.socket, or signalbox agent; or remove x",
    "signalbox init on that host checks whether its role may write hosts/",
    "find out which user writes it, then: etcdctl del /x",
    "signalbox ls locks --no-such-flag",
  ])("%j names none", (remedy) => {
    expect(summarize(remedy)).toBeUndefined();
  });
});
