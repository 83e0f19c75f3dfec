import { describe, expect, test } from "vitest";
import { UsageError } from "../../../../src/base/errors.ts";
import { toSignalboxLine } from "../../../../src/commands/check/crontab/read.ts";
import { parseSwitchman } from "../../../../src/syntax/switchman-call.ts";

describe("a line of switchman", () => {
  test.each<[words: string[], same: string]>([
    [["--", "/opt/x", "a"], "signalbox run -E 0 -- /opt/x a"],
    [["x", "a"], "signalbox run -E 0 -- x a"],
    [["-g", "web", "--lockname", "l", "--", "x"], "signalbox run -E 0 --lock l -g web -- x"],
    [["--group=web", "--lockname=l", "--", "x"], "signalbox run -E 0 --lock l -g web -- x"],
    [["-lockname", "l", "--gr", "web", "--", "x"], "signalbox run -E 0 --lock l -g web -- x"],
    [["--no-lock", "--", "x"], "signalbox run -E 0 --no-lock --lease no-lock:x=1:1000000 -- x"],
    [["--nolock", "--lease", "db=1:2", "--", "x"], "signalbox run -E 0 --no-lock --lease db=1:2 -- x"],
    [["-c", "/etc/s.conf", "--", "x"], "signalbox run -E 0 -- x"],
    [
      ["--lease", "FQDN_cpu=1:CPU", "--lease", "FQDN_mem=4:int(MEMMB/1024)", "--", "x", "b c"],
      "signalbox run -E 0 --lease FQDN_cpu=1:CPU --lease 'FQDN_mem=4:int(MEMMB/1024)' -- x 'b c'",
    ],
    [["x", "-g", "web", "y"], "signalbox run -E 0 -g web -- x y"], // options may stand behind arguments
    [["--lock", "--", "x"], "signalbox run -E 0 -- x"],
  ])("%j", (words, same) => {
    expect(toSignalboxLine(parseSwitchman(words))).toBe(same);
  });

  test.each<[words: string[], fault: RegExp]>([
    [[], /no command/],
    [["-g", "web"], /no command/],
    [["-g"], /--group needs a value/],
    [["--groups", "web", "--", "x"], /unknown option "--groups"; did you mean --group\?/],
    [["--lo", "a", "--", "x"], /unknown option "--lo"/], // lock or lockname?
    [["--lease", "db", "--", "x"], /"db" is not RESOURCE=COUNT:TOTAL/],
    [["--lease", "db=1", "--", "x"], /"db=1" is not/],
    [["--lockname", "a/b", "--", "x"], /cannot contain "\/"/],
  ])("%j is a fault", (words, fault) => {
    expect(() => parseSwitchman(words)).toThrow(UsageError);
    expect(() => parseSwitchman(words)).toThrow(fault);
  });
});
