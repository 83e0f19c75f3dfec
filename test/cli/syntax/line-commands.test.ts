import { describe, expect, test } from "vitest";
import { findInvocation, listLineCommands } from "../../../src/cli/syntax/line-commands.ts";

const found = (line: string, variables: [string, string][] = []) => {
  const parsed = listLineCommands(line, new Map(variables));
  if ("fault" in parsed) return parsed.fault;
  const starts = parsed.value.flatMap((command) => findInvocation(command) ?? []);
  return starts.map(({ tool, words }) => [tool === "run" ? "signalbox" : tool, words.join(" ")].join(": "));
};

describe("where signalbox and switchman start", () => {
  test.each<[line: string, starts: string[]]>([
    ["signalbox run -- x", ["signalbox: -- x"]],
    ["/usr/local/bin/signalbox run --lock a -- x 'b c'", ["signalbox: --lock a -- x b c"]],
    ["FOO=bar signalbox run -- x", ["signalbox: -- x"]],
    ["signalbox --context prod -q run --lock a -- x", ["signalbox: --context prod -q --lock a -- x"]],
    ["cd /srv && signalbox run -- ./x", ["signalbox: -- ./x"]],
    ["cd /srv; nice -n 10 ionice -c3 signalbox run -- ./x >/dev/null 2>&1", ["signalbox: -- ./x"]],
    ["sudo -u app signalbox run -- x", ["signalbox: -- x"]],
    ["flock -n /tmp/x signalbox run -- x", ["signalbox: -- x"]],
    ["flock -n /tmp/x -c 'signalbox run -- x'", ["signalbox: -- x"]],
    ["env SIGNALBOX_TTL=60s signalbox run -- x", ["signalbox: -- x"]],
    ["timeout 5m signalbox run -- x", ["signalbox: -- x"]],
    ["[ -x /usr/bin/signalbox ] && signalbox run -- x", ["signalbox: -- x"]],
    ["test -f /x && /usr/bin/signalbox run -- y || true", ["signalbox: -- y"]],
    ["sh -c 'cd /x && signalbox run -- y'", ["signalbox: -- y"]],
    [`bash -lc "exec signalbox run -- y"`, ["signalbox: -- y"]],
    ["su - app -c 'signalbox run -- y'", ["signalbox: -- y"]],
    ["/bin/sh -ec 'a' ; signalbox run -- y", ["signalbox: -- y"]],
    ["signalbox run -- sh -c 'a && b'", ["signalbox: -- sh -c a && b"]],
    ["signalbox run -- a; signalbox run -- b", ["signalbox: -- a", "signalbox: -- b"]],
    ["$SB --lock a -- b", ["signalbox: --lock a -- b"]],
    ["SB='signalbox run'; $SB -- b", ["signalbox: -- b"]],
    ["sleep $((RANDOM / 300)); signalbox run -- b", ["signalbox: -- b"]],
    ["switchman -- x", ["switchman: -- x"]],
    ["/usr/bin/switchman -g web -- x", ["switchman: -g web -- x"]],
    ["nice switchman -- x", ["switchman: -- x"]],
    ["switchman x", ["switchman: x"]],
    // Not started: spoken about, other commands, files.
    ["echo signalbox run -- x", []],
    ["pgrep -f signalbox run", []],
    ["logger -t switchman -- started", []],
    ["echo 'signalbox run -- x'", []],
    ["signalbox ls", []],
    ["signalbox prune --yes", []],
    ["cp switchman /tmp", []],
    ["sh /usr/local/bin/signalbox-jobs -c x", []],
    ["a 'b", []], // a fault of a line that is none of ours
    ["run", []],
  ])("%s", (line, starts) => {
    expect(found(line, [["SB", "signalbox run"]])).toEqual(starts);
  });

  test.each([
    ["signalbox run -- 'x", "a quote (') is not closed"],
    ["sh -c 'signalbox run -- \"x'", 'a quote (") is not closed'],
  ])("%s is a fault", (line, fault) => {
    expect(found(line)).toBe(fault);
  });

  test("knows the variables that count, the wrapper, and what follows", () => {
    const parsed = listLineCommands(
      "export B=2; C=3 chronic env D=4 signalbox run -- x || mail ops",
      new Map([["A", "1"]]),
    );
    const [one] = "value" in parsed ? parsed.value.flatMap((command) => findInvocation(command) ?? []) : [];
    expect(Object.fromEntries(one?.variables ?? [])).toEqual({ A: "1", B: "2", C: "3", D: "4" });
    expect(one).toMatchObject({ wrapper: ["C=3", "chronic", "env", "D=4"], next: "||" });
  });

  test("follows shells in shells only so deep", () => {
    const nested = (depth: number): string =>
      depth === 0 ? "signalbox run -- x" : `sh -c "${nested(depth - 1).replace(/["\\]/g, "\\$&")}"`;
    expect(found(nested(3))).toHaveLength(1);
    expect(found(nested(4))).toHaveLength(0);
  });
});
