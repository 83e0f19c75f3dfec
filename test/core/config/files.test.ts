import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { ConfigError } from "../../../src/core/base/errors.ts";
import { resolveConfig } from "../../../src/core/config/config.ts";
import { readFileWithMode } from "../../../src/core/config/files.ts";
import { thisMachine } from "../../../src/core/config/machine.ts";
import { readHostFacts } from "../../../src/core/fleet/host.ts";
import { fakeFiles, SYSTEM, USER } from "./fake-files.ts";

describe("which files are read", () => {
  const all = {
    [SYSTEM]: { ttl: "40s" },
    [USER]: { ttl: "50s" },
    "/xdg/signalbox/config.json": { ttl: "60s" },
    "/c.json": { label: "c" },
  };

  function asked(env: Record<string, string>, flags = {}) {
    const paths: string[] = [];
    const files = fakeFiles(all);
    const config = resolveConfig({
      env,
      flags,
      readFile: (path) => {
        paths.push(path);
        return files(path);
      },
    });
    return { paths, ...config };
  }

  test.each([
    [{ HOME: "/home/op" }, [USER, SYSTEM], 50_000],
    [{ HOME: "/home/op", XDG_CONFIG_HOME: "/xdg" }, ["/xdg/signalbox/config.json", SYSTEM], 60_000],
    [{ HOME: "/home/op", XDG_CONFIG_HOME: "relative" }, [USER, SYSTEM], 50_000],
    [{}, [SYSTEM], 40_000],
  ])("%j", (env, paths, ttl) => {
    const read = asked(env);
    expect(read.paths).toEqual(paths);
    expect(read.files).toEqual(paths);
    expect(read.values.ttl).toBe(ttl);
  });

  test("only the named one, by the flag before the variable", () => {
    const byVariable = asked({ HOME: "/home/op", SIGNALBOX_CONFIG: "/c.json" });
    expect(byVariable.paths).toEqual(["/c.json"]);
    expect(byVariable.values).toMatchObject({ label: "c", ttl: 30_000 });
    expect(asked({ SIGNALBOX_CONFIG: "/none" }, { config: "/c.json" }).paths).toEqual(["/c.json"]);
  });

  test("a named one must exist", () => {
    expect(() => asked({}, { config: "/none.json" })).toThrow(ConfigError);
    expect(() => asked({}, { config: "/none.json" })).toThrow("/none.json does not exist");
  });
});

describe("on a real file system", () => {
  let folder: string;
  beforeEach(() => {
    folder = createTestFolder();
  });

  const load = (content: string, mode = 0o644) => {
    const path = join(folder, "config.json");
    writeFileSync(path, content);
    chmodSync(path, mode);
    return () => resolveConfig({ flags: { config: path } });
  };

  test("settings, also after a byte order mark", () => {
    expect(load('\ufeff{"ttl": "40s"}')().values.ttl).toBe(40_000);
  });

  test.each([
    ["", "is not JSON: line 1, column 1: expected a value, but the text ends"],
    ['{\n  "ttl": "40s",\n}', 'is not JSON: line 3, column 1: expected a quoted key, got "}"'],
    ["[]", 'must contain a JSON object, such as {"ttl": "30s"}'],
    ["null", "must contain a JSON object"],
    ['"text"', "must contain a JSON object"],
  ])("%j: %s", (content, message) => {
    expect(load(content)).toThrow(ConfigError);
    expect(load(content)).toThrow(`${folder}/config.json ${message}`);
  });

  test("one that others can read must not hold a password", () => {
    const content = '{"user": "c", "password": "pw", "endpoints": "https://a:1"}';
    expect(load(content, 0o644)).toThrow("(mode 0644); run: chmod 600");
    expect(load(content, 0o600)().values.password).toBe("pw");
  });

  test("what cannot be read is an error, what is not there is none", () => {
    expect(() => resolveConfig({ flags: { config: folder } })).toThrow(`${folder} cannot be read (EISDIR)`);
    const noFolder = join(folder, "file");
    writeFileSync(noFolder, "");
    expect(readFileWithMode(join(noFolder, "below"))).toBeUndefined();
    mkdirSync(join(folder, "signalbox/config.json"), { recursive: true });
    expect(() => resolveConfig({ env: { XDG_CONFIG_HOME: folder } })).toThrow("cannot be read (EISDIR)");
  });

  test("this machine has a name, a processor and some memory", () => {
    const facts = readHostFacts(thisMachine);
    expect(facts.fqdn).toMatch(/^[a-z0-9_.-]+$/);
    expect(facts.cpu).toBeGreaterThanOrEqual(1);
    expect(facts.memMb).toBeGreaterThanOrEqual(16);
    expect(facts.memMb).toBeLessThanOrEqual(thisMachine.getTotalMemory() / 1_048_576);
    expect(thisMachine.readFile(join(folder, "none"))).toBeUndefined();
  });
});
